# SPDX-License-Identifier: GPL-2.0-only
"""The cases of floodgate: `floodgate_options`, its options and classes, and `floodgate_parents`, floodgate below each
qdisc that takes another one; see generate."""
import re

import cases
import option_lists as lists
from cases import (DEV, FRAME, PARENTS, after, flow, hold, loaded, pattern, show, show_and_release, stats, steps, tc,
                   usual)

NO = '(Error: |RTNETLINK answers: )'


def case(where, *args, **kwargs):
    cases.case('floodgate_' + where, *args, kind='floodgate', **kwargs)


def floodgate(words='', slot='2:1', handle='3', verb='add', dev=DEV):
    return 'qdisc {} dev {} parent {} handle {}: floodgate {}'.format(verb, dev, slot, handle, words).strip()


# ---- below each parent ----

def below(p):
    slot = '2:' + p.slot
    top = [hold()] + p.make()
    stash = (FRAME, 1) if p.stash else (0, 0)
    wait = ' && sleep 1' if p.slow else ''
    each = (('tbf', '1'), (p.kind, '2'), ('floodgate', '3'))

    def levels(size, packets, **last):
        """floodgate has that; those above have the frame that was peeked at, too."""
        above = (size + stash[0], packets + stash[1])
        return [stats('tbf', '1', above), stats(p.kind, '2', above),
                stats('floodgate', '3', (size, packets), **last)]

    def sent(size, packets, **last):
        return [stats(*q, (0, 0), (size, packets)) for q in each[:2]] + [
            stats('floodgate', '3', (0, 0), (size, packets), **last)]

    def release(*before):
        return show_and_release(before, wait=wait)

    def add(name, *args, **kwargs):
        case('parents', 'floodgate below {}: {}'.format(p.name, name), *args, needs=p.needs, **kwargs)

    held = [loaded([*top, floodgate('', slot)], flow(6))]
    add('all that is held is counted at each level and sent, when a second one cannot be made',
        held, tc(floodgate('kmin 1', slot, '4', 'replace')), steps(*release()),
        pattern(after(1, *levels(*((400, 4) if p.stash else (500, 5)))), after(2, *sent(700, 7, dropped=0))), status=1)
    # What was peeked at and is still in floodgate counts. What comes is dropped, and nothing that is there.
    lost = 3 - stash[1]
    rest = 4 + stash[1]		# one before, two that are held, one behind
    add('over its limit what comes is dropped, and nothing when it is lowered',
        [loaded([*top, floodgate('limit 250', slot)], flow(6))], tc(floodgate('limit 150', slot, verb='change')),
        steps(*release(floodgate('limit 1m', slot, verb='change'))),
        pattern(after(1, *levels(200, 2, dropped=lost)), after(2, *sent(FRAME * rest, rest, dropped=lost))))
    usual(add, p, 'floodgate', floodgate)


# ---- options ----

# What the rows of the specification say is in option_lists.py; here is what they do not.
DEFAULTS = lists.FLOODGATE_DEFAULTS['']
FIXED = lists.FLOODGATE_FIXED
CREATION = 'this option can be set at creation only'
# What goes with some of the values there: typed, and shown then
ALSO = {
    'pfc': ('pool 1m', {'pool': '1Mb'}),
    'kmin 1': ('kmax 1', {'kmax': '1b'}),
    'kmin 1073741824': ('kmax 1g', {'kmax': '1Gb'}),
}
BAD = [(typed, said, by) for _, option, typed, said, by in lists.FLOODGATE_BAD if option not in FIXED] + [
    (typed, CREATION, 'kernel') for _, option, typed, shown in lists.FLOODGATE_GOOD
    if option in FIXED and shown != DEFAULTS[option]] + [
    (typed, said, 'tc') for typed, said in (
        ('limit none', 'takes a size '), ('window none', 'takes a size '), ('hrtt 5', 'takes a time '),
        ('limit 1m limit 2m', 'is given twice'), ('queues 8', 'there is no option "queues"'))] + [
    (typed, said, 'kernel') for typed, said in (
        ('kmin 2k kmax 1k', 'kmin must not be above kmax'), ('kmin 1', 'kmin must not be above kmax'),
        ('refresh 1ms lease 1ms', 'lease must be at least 2 refreshes'))]
BAD_NEW = [(typed, said, by) for _, option, typed, said, by in lists.FLOODGATE_BAD if option in FIXED] + [
    ('kmin 1', 'kmin must not be above kmax', 'kernel'), ('pfc', 'pfc needs a pool', 'kernel')]


def options_line(**changed):
    """The options as tc shows them, with `changed`."""
    return cases.shown_line(dict(DEFAULTS, **changed), lists.FLOODGATE_OFF, lists.FLOODGATE_VERSION)


def options():
    root = '$TC qdisc {} dev ' + DEV + ' root handle 1: floodgate '
    at = r'^qdisc floodgate 1: root refcnt \d+ '
    look = '$TC qdisc show dev ' + DEV
    case('options', 'floodgate without an option has the defaults', [], root.format('add').strip(), look,
         at + options_line())
    for _, option, typed, shown in lists.FLOODGATE_GOOD:
        with_typed, with_shown = ALSO.get(typed, ('', {}))
        changed = dict(with_shown, **{option: shown})
        if option in FIXED:
            case('options', 'floodgate: add with ' + typed, [],
                 ' '.join([root.format('add') + typed, with_typed]).strip(), look,
                 at + options_line(**changed))
            continue
        stays = ('hrtt', '7us') if option != 'hrtt' else ('rate', '2Gbit')
        case('options', 'floodgate: change to {}, another stays'.format(typed), [root.format('add') + '{} {}'.format(*stays)],
             ' '.join([root.format('change') + typed, with_typed]).strip(), look,
             at + options_line(**dict([stays], **changed)))
    for typed, words, by in BAD:
        change = root.format('change') + 'notag ' + typed
        case('options', 'floodgate: change to {} is refused, all stays'.format(typed), [root.format('add') + 'limit 2m'],
             change, steps(change + ' 2>&1', look),
             pattern(after(1, re.escape(words)), '.*@1\\n', at.lstrip('^'), options_line(limit='2Mb')),
             status=2 if by == 'kernel' else 1)
    for typed, words, by in BAD_NEW:
        add = root.format('add') + typed
        case('options', 'floodgate: add with {} is refused, nothing is there'.format(typed), [], add,
             steps(add + ' 2>&1', look), pattern(after(1, re.escape(words)), '(?!.*qdisc floodgate)'),
             status=2 if by == 'kernel' else 1)
    case('options', 'floodgate: replace by a second handle starts from the defaults',
         [root.format('add') + 'kmin 1k kmax 2k slots 7'], '$TC qdisc replace dev {} root handle 2: floodgate'.format(DEV), look,
         r'^qdisc floodgate 2: root refcnt \d+ ' + options_line())
    case('options', 'floodgate: it comes and goes many times', [],
         tc(*['qdisc add dev {} root floodgate slots 4094'.format(DEV), 'qdisc del dev {} root'.format(DEV)] * 20), look,
         r'\A(?!.*qdisc floodgate)')


# ---- its classes, and what it refuses ----

def classes():
    root = tc('qdisc add dev {} root handle 1: floodgate limit 2m'.format(DEV))
    kept = 'qdisc floodgate 1: root [^\\n]* limit 2Mb '
    for what, command, words in (
            ('is not added twice', '$TC qdisc add dev {} root handle 1: floodgate limit 1m', 'Exclusivity flag'),
            ('is not changed under another handle', '$TC qdisc change dev {} root handle 9: floodgate limit 1m', NO),
            ('is not deleted under another handle', '$TC qdisc del dev {} root handle 9:', 'Invalid handle'),
            ('has no class to add', '$TC class add dev {} parent 1: classid 1:7 floodgate', 'made by the qdisc'),
            ('has no class to delete', '$TC class del dev {} classid 1:1', NO),
            ('has no slot to delete', '$TC class del dev {} classid 1:1000', NO),
            ('has no filters', '$TC filter add dev {} parent 1: protocol all matchall', NO),
            ('has no filters at a class', '$TC filter add dev {} parent 1:1 protocol all matchall', NO),
            ('takes no qdisc at its FIFO', '$TC qdisc add dev {} parent 1:1 handle 2: pfifo', NO),
            ('takes none at a slot', '$TC qdisc add dev {} parent 1:1000 handle 2: pfifo', NO),
            ('takes none at a slot that there is not', '$TC qdisc add dev {} parent 1:1400 handle 2: pfifo', NO),
            ('takes none for control packets', '$TC qdisc add dev {} parent 1:fff handle 2: pfifo', NO),
            ('is not below itself', '$TC qdisc replace dev {} parent 1:1 handle 1: floodgate', NO)):
        command = command.format(DEV)
        case('options', 'floodgate ' + what, [root], command, steps(command + ' 2>&1', show()),
             pattern(after(1, words), after(2, kept)), status=1 if 'class add' in command else 2)
    # without a neighbour no destination gets a slot
    case('options', 'floodgate shows its classes', [root, flow(2)], '$TC -s class show dev ' + DEV,
         '$TC -s class show dev ' + DEV,
         r'\A\s*class floodgate 1:1 root .* backlog 0b 0p .*class floodgate 1:fff root (?!.*class floodgate)')
    case('options', 'floodgate is not for a device without neighbours', [], '$TC qdisc add dev lo root floodgate',
         '$TC qdisc add dev lo root floodgate 2>&1; ' + show('lo'),
         pattern('(?=.*not an Ethernet device)(?!.*qdisc floodgate)'), status=2)


def make():
    options()
    classes()
    for parent in PARENTS:
        below(parent)
