# SPDX-License-Identifier: GPL-2.0-only
"""The cases of flowsail: `flowsail_options`, its options and classes, and `flowsail_parents`, flowsail below each
qdisc that takes another one; see generate."""
import re

import cases
import option_lists as lists
from cases import (DEV, FRAME, PARENTS, after, flow, hold, loaded, pattern, show, show_and_release, stats, steps, tc,
                   usual)

NO = '(Error: |RTNETLINK answers: )'


def case(where, *args, **kwargs):
    cases.case('flowsail_' + where, *args, kind='flowsail', **kwargs)


def flowsail(words='', slot='2:1', handle='3', verb='add', dev=DEV):
    return 'qdisc {} dev {} parent {} handle {}: flowsail {}'.format(verb, dev, slot, handle, words).strip()


# ---- below each parent ----

def below(p):
    slot = '2:' + p.slot
    top = [hold()] + p.make()
    stash = (FRAME, 1) if p.stash else (0, 0)
    wait = ' && sleep 1' if p.slow else ''
    each = (('tbf', '1'), (p.kind, '2'), ('flowsail', '3'))

    def levels(size, packets, **last):
        """flowsail has that; those above have the frame that was peeked at, too."""
        above = (size + stash[0], packets + stash[1])
        return [stats('tbf', '1', above), stats(p.kind, '2', above),
                stats('flowsail', '3', (size, packets), **last)]

    def sent(size, packets, **last):
        return [stats(*q, (0, 0), (size, packets)) for q in each[:2]] + [
            stats('flowsail', '3', (0, 0), (size, packets), **last)]

    def release(*before):
        return show_and_release(before, wait=wait)

    def add(name, *args, **kwargs):
        case('parents', 'flowsail below {}: {}'.format(p.name, name), *args, needs=p.needs, **kwargs)

    held = [loaded([*top, flowsail('', slot)], flow(6))]
    add('all that is held is counted at each level and sent, when a second one cannot be made',
        held, tc(flowsail('kmin 1', slot, '4', 'replace')), steps(*release()),
        pattern(after(1, *levels(*((400, 4) if p.stash else (500, 5)))), after(2, *sent(700, 7, dropped=0))), status=1)
    # What was peeked at and is still in flowsail counts, and cannot be dropped any more.
    lost = 3 - stash[1]
    add('over its limit the oldest go, and more when it is lowered',
        [loaded([*top, flowsail('limit 250', slot)], flow(6))], tc(flowsail('limit 150', slot, verb='change')),
        steps(*release(flowsail('limit 1m', slot, verb='change'))),
        pattern(after(1, *levels(FRAME, 1, dropped=lost + 1)),
                after(2, *sent(FRAME * (3 + stash[1]), 3 + stash[1], dropped=lost + 1))))
    usual(add, p, 'flowsail', flowsail)


# ---- options ----

# What the rows of the specification say is in option_lists.py; here is what they do not.
DEFAULTS = dict(lists.FLOWSAIL_DEFAULTS[''], priomap=' '.join(['0'] * 16))
UP = '0 1 2 3 4 5 6 7 7 6 5 4 3 2 1 0'
FIXED = lists.FLOWSAIL_FIXED
CREATION = 'this option can be set at creation only'
# What goes with some of the values there: typed, and shown then
ALSO = {
    'classes 8': ('', {'priomap': '1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1'}),
    'slots 4094': ('queues 1 isolation 1', {'queues': '1', 'isolation': '1'}),
    'ql-scale 1000': ('qh-scale 1000', {'qh-scale': '1000%'}),
    'qh-scale 0.01': ('ql-scale 0.01', {'ql-scale': '0.01%'}),
    'kmin 1': ('kmax 1', {'kmax': '1b'}),
    'kmin 1073741824': ('kmax 1g', {'kmax': '1Gb'}),
    'isolation-by root': ('roots', {'roots': True}),
    'pfc': ('pool 1m', {'pool': '1Mb'}),
}
BAD = [(typed, said, by) for _, option, typed, said, by in lists.FLOWSAIL_BAD if option not in FIXED] + [
    (typed, CREATION, 'kernel') for _, option, typed, shown in lists.FLOWSAIL_GOOD
    if option in FIXED and shown != DEFAULTS[option]] + [
    (typed, said, 'tc') for typed, said in (
        ('priomap 0 0 0', 'takes 16 numbers'), ('priomap ' + UP.replace('7', '8'), 'takes 16 numbers'),
        ('limit none', 'takes a size '), ('ql none', 'takes a size '), ('hrtt 5', 'takes a time '),
        ('limit 1m limit 2m', 'is given twice'), ('th 1k', 'there is no option "th"'))] + [
    (typed, said, 'kernel') for typed, said in (
        ('priomap ' + UP, 'priomap names a class that does not exist'),
        ('ql 2k qh 1k', 'qh must not be below ql'), ('ql-scale 300.01%', 'qh-scale must not be below ql-scale'),
        ('qh-scale 99.99%', 'qh-scale must not be below ql-scale'),
        ('kmin 2k kmax 1k', 'kmin must not be above kmax'), ('kmin 1', 'kmin must not be above kmax'),
        ('refresh 1ms lease 1ms', 'lease must be at least 2 refreshes'))]
BAD_NEW = [(typed, said, by) for _, option, typed, said, by in lists.FLOWSAIL_BAD if option in FIXED] + [
    (typed, 'queues, isolation of each class and slots together must be at most 4096', 'kernel')
    for typed in ('slots 4094', 'queues 2048 isolation 1 slots 2048', 'queues 2048 isolation 64 slots 1985',
                  'queues 3 isolation flow slots 4094')] + [
    ('isolation-by root', 'isolation-by root needs roots', 'kernel'), ('pfc', 'pfc needs a pool', 'kernel'),
    ('kmin 1', 'kmin must not be above kmax', 'kernel'), ('classes 3', 'queues must be a multiple of classes', 'kernel'),
    ('queues 2 classes 4', 'queues must be a multiple of classes', 'kernel'),
    ('classes 8 isolation 64 slots 3577', 'queues, isolation of each class and slots together must be at most 4096', 'kernel'),
    ('classes 2 priomap ' + UP, 'priomap names a class that does not exist', 'kernel')]


def options_line(**changed):
    """The options as tc shows them, with `changed`."""
    return cases.shown_line(dict(DEFAULTS, **changed), lists.FLOWSAIL_OFF, lists.FLOWSAIL_VERSION)


def options():
    root = '$TC qdisc {} dev ' + DEV + ' root handle 1: flowsail '
    at = r'^qdisc flowsail 1: root refcnt \d+ '
    look = '$TC qdisc show dev ' + DEV
    case('options', 'flowsail without an option has the defaults', [], root.format('add').strip(), look,
         at + options_line())
    for _, option, typed, shown in lists.FLOWSAIL_GOOD:
        with_typed, with_shown = ALSO.get(typed, ('', {}))
        changed = dict(with_shown, **{option: shown})
        if option in FIXED:
            case('options', 'flowsail: add with ' + typed, [], ' '.join([root.format('add') + typed, with_typed]).strip(), look,
                 at + options_line(**changed))
            continue
        stays = ('hrtt', '7us') if option != 'hrtt' else ('rate', '2Gbit')
        case('options', 'flowsail: change to {}, another stays'.format(typed), [root.format('add') + '{} {}'.format(*stays)],
             ' '.join([root.format('change') + typed, with_typed]).strip(), look,
             at + options_line(**dict([stays], **changed)))
    for typed, words, by in BAD:
        change = root.format('change') + 'notag ' + typed
        case('options', 'flowsail: change to {} is refused, all stays'.format(typed), [root.format('add') + 'limit 2m'],
             change, steps(change + ' 2>&1', look),
             pattern(after(1, re.escape(words)), '.*@1\\n', at.lstrip('^'), options_line(limit='2Mb')),
             status=2 if by == 'kernel' else 1)
    for typed, words, by in BAD_NEW:
        add = root.format('add') + typed
        case('options', 'flowsail: add with {} is refused, nothing is there'.format(typed), [], add,
             steps(add + ' 2>&1', look), pattern(after(1, re.escape(words)), '(?!.*qdisc flowsail)'),
             status=2 if by == 'kernel' else 1)
    case('options', 'flowsail: add with classes 8 and a priomap', [], root.format('add') + 'classes 8 priomap ' + UP, look,
         at + options_line(classes='8', priomap=UP))
    case('options', 'flowsail: replace by a second handle starts from the defaults',
         [root.format('add') + 'kmin 1k kmax 2k slots 7'], '$TC qdisc replace dev {} root handle 2: flowsail'.format(DEV), look,
         r'^qdisc flowsail 2: root refcnt \d+ ' + options_line())
    case('options', 'flowsail: it comes and goes many times', [],
         tc(*['qdisc add dev {} root flowsail queues 2 isolation flow slots 4094'.format(DEV), 'qdisc del dev {} root'.format(DEV)] * 20), look,
         r'\A(?!.*qdisc flowsail)')


# ---- its classes, and what it refuses ----

def classes():
    root = tc('qdisc add dev {} root handle 1: flowsail limit 2m'.format(DEV))
    kept = 'qdisc flowsail 1: root [^\\n]* limit 2Mb '
    for what, command, words in (
            ('is not added twice', '$TC qdisc add dev {} root handle 1: flowsail limit 1m', 'Exclusivity flag'),
            ('is not changed under another handle', '$TC qdisc change dev {} root handle 9: flowsail limit 1m', NO),
            ('is not deleted under another handle', '$TC qdisc del dev {} root handle 9:', 'Invalid handle'),
            ('has no class to add', '$TC class add dev {} parent 1: classid 1:7 flowsail', 'made by the qdisc'),
            ('has no class to delete', '$TC class del dev {} classid 1:1', NO),
            ('has no sub-queue to delete', '$TC class del dev {} classid 1:1000', NO),
            ('has no filters at a class', '$TC filter add dev {} parent 1:1 protocol all matchall', NO),
            ('takes no qdisc at a sub-queue', '$TC qdisc add dev {} parent 1:1000 handle 2: pfifo', NO),
            ('takes none at a sub-queue that there is not', '$TC qdisc add dev {} parent 1:1410 handle 2: pfifo', NO),
            ('takes none for control packets', '$TC qdisc add dev {} parent 1:fff handle 2: pfifo', NO),
            ('is not below itself', '$TC qdisc replace dev {} parent 1:1 handle 1: flowsail', NO)):
        command = command.format(DEV)
        case('options', 'flowsail ' + what, [root], command, steps(command + ' 2>&1', show()),
             pattern(after(1, words), after(2, kept)), status=1 if 'class add' in command else 2)
    case('options', 'flowsail shows its classes, and sub-queues that were used', [
        tc('qdisc add dev {} root handle 1: flowsail role switch queues 1'.format(DEV)), flow(2)], '$TC -s class show dev ' + DEV,
         '$TC -s class show dev ' + DEV,
         r'\A\s*class flowsail 1:1 root .*class flowsail 1:fff root .*class flowsail 1:1000 parent 1:1 .* class: waits not role normal flows 0 '
         r'(?!.*class flowsail)')
    case('options', 'and those of hosts', [
        tc('qdisc add dev {} root handle 1: flowsail role host queues 1 slots 1'.format(DEV)), flow(2)],
         '$TC -s class show dev ' + DEV, '$TC -s class show dev ' + DEV,
         r'\A\s*class flowsail 1:1 root .*class flowsail 1:fff root .*class flowsail 1:1009 parent 1:1 .* class: waits not role own flows 0 '
         r'(?!.*class flowsail 1:100[^9])')
    case('options', 'flowsail is not for a device without neighbours', [], '$TC qdisc add dev lo root flowsail',
         '$TC qdisc add dev lo root flowsail 2>&1; ' + show('lo'),
         pattern('(?=.*not an Ethernet device)(?!.*qdisc flowsail)'), status=2)


def make():
    options()
    classes()
    for parent in PARENTS:
        below(parent)
