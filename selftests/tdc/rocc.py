# SPDX-License-Identifier: GPL-2.0-only
"""The cases of rocc: `rocc_options`, its options, classes and child, and `rocc_parents`, rocc of both
roles below each qdisc that takes another one; see generate."""
import re

import cases
import option_lists as lists
from cases import (DEV, FRAME, PARENTS, after, batch, flow, hold, loaded, pattern, show, show_and_release, stats, steps,
                   tc, usual)

NOTHING = (0, 0)
NO = '(Error: |RTNETLINK answers: )'
KEY = '00112233445566778899aabbccddeeff'


def case(where, *args, **kwargs):
    cases.case('rocc_' + where, *args, kind='rocc', **kwargs)


def rocc(words='', slot='2:1', handle='3', verb='add', dev=DEV):
    return 'qdisc {} dev {} parent {} handle {}: rocc {}'.format(verb, dev, slot, handle, words)


def plus(a, b):
    return a[0] + b[0], a[1] + b[1]


# ---- below each parent ----

# Words that this role refuses
NOT_OF = {'switch': 'limiters 8', 'host': 'flows 8'}
OTHER = {'switch': 'host', 'host': 'switch'}


def below(p, role):
    slot = '2:' + p.slot
    top = [hold()] + p.make()
    held = [loaded([*top, rocc('role ' + role, slot)], flow(6))]
    stash = (FRAME, 1) if p.stash else NOTHING
    wait = ' && sleep 1' if p.slow else ''

    def pick(with_stash, without):
        return with_stash if p.stash else without

    def release(*before):
        return show_and_release(before, wait=wait)

    def levels(own, **last):
        """rocc has `own`; those above have that and the frame that was peeked at."""
        every = plus(own, stash)
        return [stats('tbf', '1', every), stats(p.kind, '2', every), stats('rocc', '3', own, **last)]

    def empty():
        """What those above have when rocc is gone."""
        return [stats('tbf', '1', stash), stats(p.kind, '2', stash)]

    def sent(size, packets, **last):
        total = (size, packets)
        return [stats('tbf', '1', NOTHING, total), stats(p.kind, '2', NOTHING, total),
                stats('rocc', '3', NOTHING, total, **last)]

    def add(name, *args, **kwargs):
        case('parents', 'rocc, {}, below {}: {}'.format(role, p.name, name), *args, needs=p.needs, **kwargs)

    add('all that is held is counted at each level and sent, when a second one cannot be made',
        held, tc(rocc('role {} {}'.format(role, NOT_OF[role]), slot, '4', 'replace')), steps(*release()),
        pattern(after(1, *levels(pick((400, 4), (500, 5)))), after(2, *sent(700, 7, dropped=0))),
        status=1)
    # A parent has peeked at it: it is with rocc, and no longer with its child. A host's limit counts it.
    peeked = (FRAME, 1) if p.ahead or not p.stash else NOTHING
    own = (200, 2) if role == 'host' else plus((200, 2), peeked)
    lost = 5 - own[1] - stash[1]
    rest = plus(plus(own, stash), (200, 2))
    add('over its limit',
        [loaded([*top, rocc('limit 250 role ' + role, slot)], flow(6))],
        tc(rocc('limit 1m', slot, verb='change')), steps(*release()),
        pattern(after(1, *levels(own, dropped=lost)), after(2, *sent(*rest, dropped=lost))))
    total = plus((200, 2), stash)
    add('replaced by one of the other role while it holds packets',
        held, tc(rocc('role ' + OTHER[role], slot, '4', 'replace')), steps(*release()),
        pattern(after(1, *empty(), stats('rocc', '4', NOTHING, NOTHING)),
                after(2, stats('tbf', '1', NOTHING, total), stats('rocc', '4', NOTHING, (100, 1)))))
    rest = plus(plus(peeked, stash), (200, 2))
    add('its child is replaced while it holds packets',
        held, tc('qdisc replace dev {} parent 3:1 handle 5: pfifo'.format(DEV)), steps(*release()),
        pattern(after(1, *levels(peeked), stats('pfifo', '5', NOTHING, NOTHING)),
                after(2, *sent(*rest), stats('pfifo', '5', NOTHING, (100, 1)))))
    child = 'qdisc add dev {} parent 3:1 handle 5: bfc limit {}'
    own = plus((200, 2), peeked)
    rest, lost = plus(plus(own, stash), (200, 2)), 5 - own[1] - stash[1]
    add('bfc below it is over its limit',
        [loaded([*top, rocc('role ' + role, slot), child.format(DEV, 250)], flow(6))],
        tc('qdisc change dev {} parent 3:1 handle 5: bfc limit 1m'.format(DEV)), steps(*release()),
        pattern(after(1, *levels(own), stats('bfc', '5', (200, 2), None, lost)),
                after(2, *sent(*rest), stats('bfc', '5', NOTHING, rest, lost))))
    add('bfc below it has no room for part of a GSO packet',
        [loaded([hold(800), *p.make(), rocc('role ' + role, slot), child.format(DEV, 400)], flow(8) + wait)],
        '$GSO 10.9.0.2 5 100', steps(*release()),
        pattern(after(1, stats('tbf', '1', (284, 2)), stats(p.kind, '2', (284, 2)),
                      stats('rocc', '3', pick((142, 1), (284, 2)))),
                after(2, *sent(1184, 11))))
    usual(add, p, 'rocc', rocc, 'role ' + role)


# ---- options ----

# What the rows of the specification say is in option_lists.py; here is what they do not.
DEFAULTS = {role: dict(shown, keys='none') for role, shown in lists.ROCC_DEFAULTS.items()}
FIXED = lists.ROCC_FIXED
SIXTEEN = ','.join('10.0.0.{}'.format(n) for n in range(16))
LONG = ','.join('{}/32'.format(a) for a in SIXTEEN.split(','))

# What goes with some of the values there: typed, and shown then
ALSO = {
    'qref 1073741824': None,        # with more of these: below
    'qmid 1': None,
    'qmid 1073741824': ('qmax 1g', {'qmax': '1Gb'}),
    'qmax 1': None,
    'sign 1': ('key1 ' + KEY, {'keys': '1'}),
    'sign 2': ('key2 ' + KEY, {'keys': '2'}),
}
# Other ways to type a value, keys and prefixes: role, option, typed, shown, also
GOOD = [(role, option, typed, shown, *ALSO.get(typed, ('', {})))
        for role, option, typed, shown in lists.ROCC_GOOD if ALSO.get(typed, ()) is not None] + [
    ('switch', 'rate', 'rate 10gbit', '10Gbit', '', {}), ('host', 'control-dscp', 'control-dscp 0', 'none', '', {}),
    ('host', 'limit', 'limit 64k', '64Kb', '', {}),
    ('switch', 'keys', 'key1 ' + KEY, '1', '', {}), ('switch', 'keys', 'key2 ' + KEY, '2', '', {}),
    ('switch', 'keys', 'key1 {} key2 {}'.format(KEY, KEY[::-1]), '1,2', '', {}),
    ('switch', 'keys', 'key1 none', 'none', '', {}), ('host', 'keys', 'key2 ' + KEY, '2', '', {}),
    ('switch', 'qmid', 'qmid 100000', '100000b', '', {}),
    ('switch', 'qref', 'qref 1023m qmid 1g qmax 1g', '1023Mb', '', {'qmid': '1Gb', 'qmax': '1Gb'}),
    ('switch', 'beta', 'beta 0.125', '0.125', '', {}), ('switch', 'flows', 'flows 12', '12', '', {}),
    ('host', 'from', 'from 10.0.0.0/8,fe80::/64', '10.0.0.0/8,fe80::/64', '', {}),
    ('host', 'from', 'from ::/0', '::/0', '', {}), ('host', 'from', 'from 0.0.0.0/0', '0.0.0.0/0', '', {}),
    ('host', 'from', 'from ' + SIXTEEN, LONG, '', {}), ('host', 'from', 'from any', 'any', '', {}),
]

OF_HOST = 'this option is for role host'
OF = {role: 'this option is for role ' + role for role in DEFAULTS}
CREATION = 'this option can be set at creation only'
ORDER = 'qref must be below qmid, and qmid not above qmax'
# role, typed, what is said, by whom: tc or the kernel
BAD = [(role, typed, said, by) for role, option, typed, said, by in lists.ROCC_BAD if option not in FIXED] + [
    (role, typed, said, 'tc') for role, typed, said in (
        ('switch', 'role router', 'takes one of '), ('host', 'control-dscp -1', 'takes a number '),
        ('switch', 'key1 1234', 'takes 32 hexadecimal digits'), ('switch', 'interval 5', 'takes a time '),
        ('switch', 'alpha 1e2', 'takes a number '), ('switch', 'source ::1', 'takes an IPv4 address'),
        ('switch', 'sign 3', 'takes one of '), ('switch', 'speed 1', 'speed'),
        ('switch', 'limit 1m limit 2m', 'is given twice'), ('host', 'from ' + SIXTEEN + ',::', 'takes up to 16 prefixes'),
        ('host', 'from 10.0.0.1/8', 'takes up to 16 prefixes'))] + [
    (role, typed, said, 'kernel') for role, typed, said in (
        ('switch', 'qref 10k qmid 10k', ORDER), ('switch', 'qmid 20k qmax 19k', ORDER), ('switch', 'qref 1g', ORDER),
        ('switch', 'qmax 1', ORDER), ('switch', 'sign 1', 'sign needs the key that it names'),
        ('switch', 'sign 2 key1 ' + KEY, 'sign needs the key that it names'), ('switch', 'from any', OF_HOST))] + [
    # one value of each option, in the role that does not have it
    (OTHER[role], typed, OF[role], 'kernel') for (role, option), typed in {
        (role, option): typed for role, option, typed, _ in lists.ROCC_GOOD}.items()
    if option not in DEFAULTS[OTHER[role]]]
# What cannot be changed, and what is refused when it is made only
BAD_CHANGE = [(role, typed, CREATION, 'kernel') for role, option, typed, shown in lists.ROCC_GOOD
              if option in FIXED and shown != DEFAULTS[role][option]] + [
    ('switch', 'role host', CREATION, 'kernel'), ('host', 'role switch', CREATION, 'kernel')]
BAD_NEW = [(role, typed, said, by) for role, option, typed, said, by in lists.ROCC_BAD if option in FIXED] + [
    ('switch', 'flows 6', 'flows must be a multiple of 4', 'kernel')]


def options_line(role, **changed):
    return cases.shown_line(dict(DEFAULTS[role], **changed), lists.ROCC_OFF, lists.ROCC_VERSION)


def options():
    root = '$TC qdisc {} dev ' + DEV + ' root handle 1: rocc'
    at = r'^qdisc rocc 1: root refcnt \d+ '
    look = '$TC qdisc show dev ' + DEV

    def add(role, words=''):
        return ' '.join([root.format('add'), 'role ' + role, words]).strip()

    case('options', 'rocc without an option is a switch and has the defaults', [], root.format('add'), look,
         at + options_line('switch'))
    case('options', 'rocc, host, has the defaults', [], add('host'), look, at + options_line('host'))
    for role, option, typed, shown, with_typed, with_shown in GOOD:
        changed = dict(with_shown, **{option: shown})
        if option in FIXED:
            case('options', 'rocc, {}: add with {}'.format(role, typed), [], add(role, typed), look,
                 at + options_line(role, **changed))
            continue
        stays = ('cnps', '77') if role == 'switch' and option != 'cnps' else ('limit', '77b')
        if option == 'limit':
            stays = ('rate', '2Gbit')
        case('options', 'rocc, {}: change to {}, another stays'.format(role, typed),
             [add(role, '{} {}'.format(stays[0], stays[1].replace('77b', '77')))],
             ' '.join([root.format('change'), typed, with_typed]).strip(), look,
             at + options_line(role, **dict([stays], **changed)))
    for role, typed, words, by in BAD + BAD_CHANGE:
        good = 'limit 7k' if typed.startswith('rate ') else 'rate 7gbit'
        change = ' '.join([root.format('change'), good, typed])
        case('options', 'rocc, {}: change to {} is refused, all stays'.format(role, typed), [add(role, 'limit 1m')],
             change, steps(change + ' 2>&1', look),
             pattern(after(1, re.escape(words)), '.*@1\\n', at.lstrip('^'), options_line(role, limit='1Mb')),
             status=2 if by == 'kernel' else 1)
    for role, typed, words, by in [entry for entry in BAD if entry[-1] == 'kernel'] + BAD_NEW:
        new = add(role, typed)
        case('options', 'rocc, {}: add with {} is refused, nothing is there'.format(role, typed), [], new,
             steps(new + ' 2>&1', look), pattern(after(1, re.escape(words)), '(?!.*qdisc rocc)'),
             status=2 if by == 'kernel' else 1)
    case('options', 'rocc: the key that is signed with does not go',
         [add('switch', 'limit 1m sign 2 key2 ' + KEY)], root.format('change') + ' key2 none',
         steps(root.format('change') + ' key2 none 2>&1', look),
         pattern(after(1, 'sign needs the key that it names'), '.*@1\\n', at.lstrip('^'),
                 options_line('switch', limit='1Mb', sign='2', keys='2')), status=2)
    case('options', 'rocc: what cannot be changed may be given again',
         [add('switch', 'table afd flows 8')], root.format('change') + ' role switch table afd flows 8 limit 1m', look,
         at + options_line('switch', table='afd', flows='8', limit='1Mb'))
    case('options', 'rocc: replace by a second handle starts from the defaults', [add('host', 'limit 1m')],
         '$TC qdisc replace dev {} root handle 2: rocc qref 5000'.format(DEV), look,
         r'^qdisc rocc 2: root refcnt \d+ ' + options_line('switch', qref='5000b'))
    case('options', 'rocc: replace by the same handle changes what is named', [add('host', 'limit 1m')],
         root.format('replace') + ' hold 3ms', look, at + options_line('host', limit='1Mb', hold='3ms'))
    for role, typed, changed in (
            ('switch', 'rate 1234567bit interval 1.234us alpha 0.0375 table age age 1ms source 10.0.0.1',
             {'rate': '1.23456Mbit', 'interval': '1.234us', 'alpha': '0.0375', 'table': 'age', 'age': '1ms',
              'source': '10.0.0.1'}),
            ('host', 'floor 1mbit recovery 55us radius 0 from 10.0.0.0/8,fe80::/10',
             {'floor': '1Mbit', 'recovery': '55us', 'radius': '0', 'from': '10.0.0.0/8,fe80::/10'})):
        case('options', 'rocc, {}: what is shown can be typed in again'.format(role), [add(role, typed)],
             'line=$($TC qdisc show dev {0} | sed "s/.* refcnt [0-9]* //; s/ keys .*//"); '
             '$TC qdisc del dev {0} root; {1} $line'.format(DEV, root.format('add')), look,
             at + options_line(role, **changed))
    case('options', 'rocc: help names each option', [], root.format('add') + ' help', root.format('add') + ' help 2>&1',
         r'\A' + ''.join(r'(?=.*\b{}\b)'.format(name) for name in
                         {**DEFAULTS['switch'], **DEFAULTS['host'], 'key1': '', 'key2': ''} if name != 'keys'),
         status=1)
    case('options', 'rocc: JSON has the options as numbers, words and lists', [add('host', 'from 10.0.0.0/8 key2 ' + KEY)],
         '$TC -j qdisc show dev ' + DEV, '$TC -j qdisc show dev ' + DEV,
         r'"role":"host","rate":0,"limit":8388608,"control_share":5,"control_dscp":0,"recovery":0,"hold":20000000,"floor":0,"limiters":4096,"split_gso":true,"radius":8,'
         r'"from":\["10.0.0.0/8"\],"keys":\[2\],"version":1')
    case('options', 'rocc: no key is ever shown', [add('host', 'key1 ' + KEY)], '$TC -s qdisc show dev ' + DEV,
         '$TC -s qdisc show dev {0}; $TC -j qdisc show dev {0}'.format(DEV),
         r'\A(?=.*"keys":\[1\])(?!.*2233)(?!.*key1)')
    for role in DEFAULTS:
        case('options', 'rocc, {}: it comes and goes many times'.format(role), [],
             '$TC -b - <<\'END\'\n' + '\n'.join(
                 ['qdisc add dev {} root rocc role {}'.format(DEV, role), 'qdisc del dev {} root'.format(DEV)] * 20) +
             '\nEND', look, r'\A(?!.*qdisc rocc)')


# ---- its class, what can be below it, and what it refuses ----

def classes():
    for role in DEFAULTS:
        root = tc('qdisc add dev {} root handle 1: rocc limit 1m role {}'.format(DEV, role))
        kept = 'qdisc rocc 1: root [^\\n]* role {} rate auto limit 1Mb '.format(role)
        name = 'rocc, {}: '.format(role)
        for what, command, words in (
                ('is not added twice', '$TC qdisc add dev {} root handle 1: rocc limit 2m', 'Exclusivity flag'),
                ('is not changed under another handle',
                 '$TC qdisc change dev {} root handle 9: rocc limit 2m', NO),
                ('is not deleted under another handle', '$TC qdisc del dev {} root handle 9:', 'Invalid handle'),
                ('has no class to add', '$TC class add dev {} parent 1: classid 1:7 rocc', 'made by the qdisc'),
                ('has no class to delete', '$TC class del dev {} classid 1:1', NO),
                ('has no filters', '$TC filter add dev {} parent 1: protocol all matchall', NO),
                ('has no filters at a class', '$TC filter add dev {} parent 1:1 protocol all matchall', NO),
                ('takes no qdisc but at its class', '$TC qdisc add dev {} parent 1:2 handle 2: pfifo', NO),
                ('takes no qdisc for a limiter that is not there',
                 '$TC qdisc add dev {} parent 1:8001 handle 2: pfifo', NO),
                ('does not take one that cannot be made', '$TC qdisc add dev {} parent 1:1 handle 2: rocc flows 6',
                 'multiple of 4'),
                ('is not below itself', '$TC qdisc replace dev {} parent 1:1 handle 1: rocc', NO)):
            command = command.format(DEV)
            case('options', name + what, [root], command, steps(command + ' 2>&1', show()),
                 pattern(after(1, words), after(2, kept)), status=1 if 'class add' in command else 2)
        case('options', name + 'shows its class', [root, flow(2)], '$TC -s class show dev ' + DEV,
             '$TC -s class show dev ' + DEV,
             r'\A\s*class rocc 1:1 [^\n]*\n Sent 200 bytes 2 pkt (?!.*class)')
        for child in ('pfifo', 'bfifo limit 1m', 'bfc', 'fq_codel', 'sfq', 'prio', 'tbf ' + cases.LOOSE, 'netem',
                      'rocc', 'rocc role host'):
            kind = child.split()[0]
            case('options', name + child + ' below it, and away again', [root],
                 '$TC qdisc add dev {} parent 1:1 handle 2: {}'.format(DEV, child),
                 steps(flow(3) + '\n' + show(),
                       '$TC qdisc del dev {} parent 1:1 handle 2:\n{}\n{}'.format(DEV, flow(2), show())),
                 pattern(after(1, stats('rocc', '1', NOTHING, (300, 3), 0), stats(kind, '2', NOTHING, (300, 3), 0),
                               'qdisc {} 2: parent 1:1 '.format(kind)),
                         after(2, stats('rocc', '1', NOTHING, (500, 5), 0)), '(?!.*@1.* 2: parent)'))
        # What its children drop, whoever does, is no longer in its queue.
        held = [loaded([hold(at='parent 1:1', handle='2')], flow(6))]
        case('options', name + 'its child is deleted while it holds packets', [root, *held],
             '$TC qdisc del dev {} parent 1:1'.format(DEV),
             steps(show(), 'sleep 0.1; {}'.format(show()), flow(2) + '\n' + show()),
             pattern(after(1, stats('rocc', '1', NOTHING, (100, 1))),
                     after(2, stats('rocc', '1', NOTHING, (100, 1))),
                     after(3, stats('rocc', '1', NOTHING, (300, 3)))))
    case('options', 'rocc is not for a device without Ethernet', [], '$TC qdisc add dev lo root rocc',
         '$TC qdisc add dev lo root rocc 2>&1; ' + show('lo'),
         pattern('(?=.*rocc is for Ethernet devices)(?!.*qdisc rocc)'), status=2)
    case('options', 'rocc, switch: flows whose packets have left are told no more',
         [tc('qdisc add dev {} root handle 1: rocc'.format(DEV))], flow(50), steps('sleep 0.1; ' + show()),
         pattern(after(1, stats('rocc', '1', NOTHING, (5000, 50), 0), r' flows_active 0\n')))
    case('options', 'rocc, switch: flows whose packets the child has dropped are told no more',
         [tc('qdisc add dev {} root handle 1: rocc'.format(DEV)), loaded([hold(at='parent 1:1', handle='2')], flow(6))],
         '$TC qdisc del dev {} parent 1:1'.format(DEV), steps('sleep 0.1; ' + show()),
         pattern(after(1, stats('rocc', '1', NOTHING, (100, 1)), r' flows_active 0\n')))
    case('options', 'rocc: both roles in a row, and back', [],
         '$TC qdisc replace dev {} root handle 1: rocc'.format(DEV),
         steps('$TC qdisc replace dev {} root handle 2: rocc role host\n{}\n{}'.format(DEV, flow(2), show()),
               '$TC qdisc replace dev {} root handle 3: pfifo\n{}'.format(DEV, show()),
               '$TC qdisc replace dev {} root handle 4: rocc\n{}\n{}'.format(DEV, flow(2), show())),
         pattern(after(1, stats('rocc', '2', NOTHING, (200, 2))), after(2, 'qdisc pfifo 3: root'),
                 '(?!.*@1[^@]*qdisc rocc[^@]*@2)', after(3, stats('rocc', '4', NOTHING, (200, 2)))))


def make():
    options()
    classes()
    for role in DEFAULTS:
        for parent in PARENTS:
            below(parent, role)
