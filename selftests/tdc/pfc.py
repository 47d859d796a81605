# SPDX-License-Identifier: GPL-2.0-only
"""The cases of pfc: `pfc_options`, its options and classes, and `pfc_parents`, pfc below each qdisc that takes
another one; see generate. A new one has to be told its pool."""
import re

import cases
import option_lists as lists
from cases import (DEV, FRAME, PARENTS, after, flow, hold, loaded, pattern, show, show_and_release, stats, steps, tc,
                   usual)

NOTHING = (0, 0)
NO = '(Error: |RTNETLINK answers: )'
POOL = 'pool 1m'
SMALL = 80			# bytes of another frame


def case(where, *args, **kwargs):
    cases.case('pfc_' + where, *args, kind='pfc', **kwargs)


def pfc(words='', slot='2:1', handle='3', verb='add', dev=DEV):
    return 'qdisc {} dev {} parent {} handle {}: pfc {}'.format(verb, dev, slot, handle, words)


# ---- below each parent ----

def below(p):
    slot = '2:' + p.slot
    top = [hold()] + p.make()
    stash = (FRAME, 1) if p.stash else NOTHING
    wait = ' && sleep 1' if p.slow else ''
    each = (('tbf', '1'), (p.kind, '2'), ('pfc', '3'))

    def pick(with_stash, without):
        return with_stash if p.stash else without

    def levels(size, packets, **last):
        """pfc has that; those above have the frame that was peeked at, too."""
        above = (size + stash[0], packets + stash[1])
        return [stats('tbf', '1', above), stats(p.kind, '2', above), stats('pfc', '3', (size, packets), **last)]

    def sent(size, packets, **last):
        return [stats(*q, NOTHING, (size, packets)) for q in each[:2]] + [
            stats('pfc', '3', NOTHING, (size, packets), **last)]

    def release(*before):
        return show_and_release(before, wait=wait)

    def add(name, *args, **kwargs):
        case('parents', 'pfc below {}: {}'.format(p.name, name), *args, needs=p.needs, **kwargs)

    held = [loaded([*top, pfc(POOL, slot)], flow(6))]
    add('all that is held is counted at each level and sent, when a second one cannot be made',
        held, tc(pfc('', slot, '4', 'replace')), steps(*release()),
        pattern(after(1, *levels(*pick((400, 4), (500, 5)))), after(2, *sent(700, 7, dropped=0))), status=1)
    # What was peeked at and is still in pfc has left its FIFO: the limit counts it and does not drop it.
    last, lost = (SMALL if p.stash and not p.ahead else FRAME, 1), pick(4, 5)
    add('over its limit the oldest go, and more when it is lowered',
        [loaded([*top, pfc(POOL + ' limit 250', slot)], flow(6))], flow(1, SMALL),
        steps(show(DEV, pfc('limit 150', slot, verb='change')), *release(pfc('limit 1m', slot, verb='change'))),
        pattern(after(1, *levels(FRAME + SMALL, 2, dropped=lost - 1)), after(2, *levels(*last, dropped=lost)),
                after(3, *sent(2 * FRAME + last[0] + stash[0], 3 + stash[1], dropped=lost))))
    usual(add, p, 'pfc', pfc, POOL)


# ---- options ----

# What the rows of the specification say is in option_lists.py; here is what they do not.
DEFAULTS = dict(lists.PFC_DEFAULTS[''], pool='1Mb')
# What goes with some of the values there: typed, and shown then
ALSO = {
    'kmin 1': ('kmax 1', {'kmax': '1b'}),
    'kmin 1073741824': ('kmax 1g', {'kmax': '1Gb'}),
}
BAD = [(typed, said, by) for _, _, typed, said, by in lists.PFC_BAD] + [
    (typed, said, 'tc') for typed, said in (
        ('pool none', 'takes a size '), ('hrtt 5', 'takes a time '), ('limit 1m limit 2m', 'is given twice'),
        ('pause ingress', 'there is no option "pause"'))] + [
    (typed, said, 'kernel') for typed, said in (
        ('kmin 2k kmax 1k', 'kmin must not be above kmax'), ('kmin 1', 'kmin must not be above kmax'),
        ('refresh 1ms lease 1ms', 'lease must be at least 2 refreshes'))]


def options_line(**changed):
    """The options as tc shows them, with `changed`."""
    return cases.shown_line(dict(DEFAULTS, **changed), lists.PFC_OFF, lists.PFC_VERSION)


def options():
    root = '$TC qdisc {} dev ' + DEV + ' root handle 1: pfc '
    at = r'^qdisc pfc 1: root refcnt \d+ '
    look = '$TC qdisc show dev ' + DEV
    case('options', 'pfc with a pool alone has the defaults', [], root.format('add') + POOL, look, at + options_line())
    case('options', 'pfc without a pool is refused, nothing is there', [], root.format('add'),
         steps(root.format('add') + ' 2>&1', look), pattern(after(1, 'pool must be given'), '(?!.*qdisc pfc)'),
         status=2)
    for _, option, typed, shown in lists.PFC_GOOD:
        with_typed, with_shown = ALSO.get(typed, ('', {}))
        stays = ('hrtt', '7us') if option != 'hrtt' else ('rate', '2Gbit')
        case('options', 'pfc: change to {}, another stays'.format(typed),
             [root.format('add') + POOL + ' {} {}'.format(*stays)],
             ' '.join([root.format('change'), typed, with_typed]).strip(), look,
             at + options_line(**dict([stays], **dict(with_shown, **{option: shown}))))
    for typed, words, by in BAD:
        change = root.format('change') + 'notag ' + typed
        case('options', 'pfc: change to {} is refused, all stays'.format(typed), [root.format('add') + POOL + ' limit 2m'],
             change, steps(change + ' 2>&1', look),
             pattern(after(1, re.escape(words)), '.*@1\\n', at.lstrip('^'), options_line(limit='2Mb')),
             status=2 if by == 'kernel' else 1)
    case('options', 'pfc: replace by a second handle starts from the defaults',
         [root.format('add') + POOL + ' kmin 1k kmax 2k'],
         '$TC qdisc replace dev {} root handle 2: pfc {}'.format(DEV, POOL), look,
         r'^qdisc pfc 2: root refcnt \d+ ' + options_line())
    case('options', 'pfc: it comes and goes many times', [],
         tc(*['qdisc add dev {} root pfc {}'.format(DEV, POOL), 'qdisc del dev {} root'.format(DEV)] * 20), look,
         r'\A(?!.*qdisc pfc)')


# ---- its classes, and what it refuses ----

def classes():
    root = tc('qdisc add dev {} root handle 1: pfc limit 2m {}'.format(DEV, POOL))
    kept = 'qdisc pfc 1: root [^\\n]* limit 2Mb '
    for what, command, words in (
            ('is not added twice', '$TC qdisc add dev {} root handle 1: pfc limit 1m', 'Exclusivity flag'),
            ('is not changed under another handle', '$TC qdisc change dev {} root handle 9: pfc limit 1m', NO),
            ('is not deleted under another handle', '$TC qdisc del dev {} root handle 9:', 'Invalid handle'),
            ('has no class to add', '$TC class add dev {} parent 1: classid 1:7 pfc', 'made by the qdisc'),
            ('has no class to delete', '$TC class del dev {} classid 1:1', NO),
            ('has no filters', '$TC filter add dev {} parent 1: protocol all matchall', NO),
            ('has no filters at a class', '$TC filter add dev {} parent 1:1 protocol all matchall', NO),
            ('takes no qdisc at its FIFO', '$TC qdisc add dev {} parent 1:1 handle 2: pfifo', NO),
            ('takes none for control packets', '$TC qdisc add dev {} parent 1:fff handle 2: pfifo', NO),
            ('is not below itself', '$TC qdisc replace dev {} parent 1:1 handle 1: pfc', NO)):
        command = command.format(DEV)
        case('options', 'pfc ' + what, [root], command, steps(command + ' 2>&1', show()),
             pattern(after(1, words), after(2, kept)), status=1 if 'class add' in command else 2)
    case('options', 'pfc shows its classes', [root, flow(2)], '$TC -s class show dev ' + DEV,
         '$TC -s class show dev ' + DEV,
         r'\A\s*class pfc 1:1 root [^\n]*\n Sent 200 bytes 2 pkt .*class pfc 1:fff root (?!.*class pfc)')
    case('options', 'pfc is not for a device without neighbours', [], '$TC qdisc add dev lo root pfc ' + POOL,
         '$TC qdisc add dev lo root pfc {} 2>&1; '.format(POOL) + show('lo'),
         pattern('(?=.*not an Ethernet device)(?!.*qdisc pfc)'), status=2)


def make():
    options()
    classes()
    for parent in PARENTS:
        below(parent)
