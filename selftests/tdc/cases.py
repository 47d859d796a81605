# SPDX-License-Identifier: GPL-2.0-only
"""What the cases of all kinds are made of; see generate."""
import hashlib
import re

FRAME = 100			# bytes of the usual frame
DEV = '$DUMMY'
LOOSE = 'rate 10gbit burst 100k limit 1m'

# ---- cases ----

cases = {}
ids = set()


def identity(name):
    """Four digits that stay with a name."""
    digest = hashlib.sha1(name.encode()).hexdigest()
    at = next(i for i in range(len(digest)) if digest[i:i + 4] not in ids)
    ids.add(digest[at:at + 4])
    return digest[at:at + 4]


def case(where, name, setup, command, verify, pattern, status=0, needs=(), kind='bfc'):
    cases.setdefault(where, []).append({
        'id': identity(name),
        'name': name,
        'category': ['qdisc', kind],
        'plugins': {'requires': 'nsPlugin'},
        'needs': sorted(needs),
        'setup': setup,
        'cmdUnderTest': command,
        'expExitCode': str(status),
        'verifyCmd': verify,
        'matchPattern': pattern,
        'matchCount': '1',
        'teardown': [],
    })


# ---- commands ----

def batch(tool, lines):
    return "{} -b - <<'END'\n{}\nEND".format(tool, '\n'.join(lines)) if lines else ''


def tc(*lines):
    """One tc for all lines: a process costs more than what it does."""
    return batch('$TC', lines)


def flow(packets, frame=FRAME, words='', to='10.9.0.2'):
    """Frames 58 us or more apart, so that even a shaper of 100 Mb/s serves each by itself."""
    return ' '.join(['$FLOW send --rate=8m -d', to, '-n', str(packets), '-l', str(frame - 42), words,
                     '>/dev/null'])


def show(dev=DEV, *then):
    """Prints what there is; `then`: lines for the same tc, after that."""
    look = 'qdisc show dev ' + dev
    return batch('$TC -s', [look, *then]) if then else '$TC -s ' + look


def loaded(lines, traffic):
    """Setup by one shell: tc's lines, then traffic."""
    return tc(*lines).replace("<<'END'", "<<'END' && " + traffic)


def steps(*parts):
    """Commands in a row; after part N comes a line @N."""
    return '\n'.join('{}\necho @{}'.format(part, n + 1) for n, part in enumerate(parts))


def after(number, *texts):
    """Each of the texts (regular expressions) is in the output of step `number`."""
    return ''.join('(?=(?:.*@{})?[^@]*{}[^@]*@{})'.format(number - 1, text, number)
                   if number > 1 else '(?=[^@]*{}[^@]*@1)'.format(text) for text in texts)


def pattern(*parts):
    return r'\A' + ''.join(parts)


def shown_line(shown, off, version):
    """Options as tc shows them, up to the end of the line; `off` is what says that a switch is off."""
    words = [(name if value else off[name]) if isinstance(value, bool) else name + ' ' + value
             for name, value in shown.items()]
    return re.escape(' '.join(words)) + ' version {} $'.format(version)


def stats(kind, handle, backlog=None, sent=None, dropped=None):
    """A qdisc with (bytes, packets) of backlog and sent, as regular expression."""
    return (r'qdisc {} {}: [^\n]*\n(?:(?!qdisc )[ \t]*(?:[a-z][^\n]*)?\n)*? Sent {} bytes {} pkt \(dropped {},[^\n]*\n backlog {}b {}p '
            .format(kind, handle, *(sent or (r'\d+', r'\d+')),
                    r'\d+' if dropped is None else dropped, *(backlog or (r'\d+', r'\d+'))))


# ---- parents ----

class Parent:
    """A qdisc that takes another. `lines`: how to make it, with @ for its handle and AT for
    where it goes; `slot`: the class that traffic comes to; `undo`/`redo`: take this class out
    and bring it back, if it is one that can be. The others are what the kernel does:

    stash   a frame that tbf above has peeked at is out of the child: the parent keeps it. If not,
            the child does
    bare    without a child nothing passes
    ahead   peeks at the next frame of the child when it takes one
    eager   warns of a child that has packets and gives none, as netem does
    slow    waits between two frames, by a timer"""

    def __init__(self, name, kind, lines, slot, undo=(), redo=(), needs=(), stash=True, bare=False,
                 ahead=False, eager=False, slow=False):
        self.name, self.kind, self.slot, self.needs = name, kind, slot, needs
        self.lines, self.undo, self.redo = lines, undo, redo
        self.stash, self.bare, self.ahead, self.eager, self.slow = stash, bare, ahead, eager, slow

    def fill(self, lines, handle, at, dev):
        return [re.sub('@', handle, line).replace('AT', at).replace('DEV', dev) for line in lines]

    def make(self, handle='2', at='parent 1:1', dev=DEV):
        return self.fill(self.lines, handle, at, dev)

    def take(self, handle='2', dev=DEV):
        return self.fill(self.undo, handle, '', dev)

    def bring(self, handle='2', dev=DEV):
        return self.fill(self.redo, handle, '', dev)


def classful(name, kind, qdisc, slot, **more):
    return Parent(name, kind, ['qdisc add dev DEV AT handle @: ' + qdisc], slot, **more)


def by_class(name, kind, qdisc, words, filtered, **more):
    """A qdisc whose classes are the user's: class @:1, by default or by a filter."""
    add = 'class add dev DEV parent @: classid @:1 {} {}'.format(kind, words)
    lead = ['filter add dev DEV parent @: protocol all prio 1 matchall classid @:1'] if filtered else []
    unlead = ['filter del dev DEV parent @: protocol all prio 1 matchall'] if filtered else []
    return Parent(name, kind, ['qdisc add dev DEV AT handle @: ' + qdisc, add] + lead, '1',
                  undo=unlead + ['class del dev DEV classid @:1'], redo=[add] + lead, **more)


PARENTS = [
    classful('tbf', 'tbf', 'tbf ' + LOOSE, '1', bare=True),
    classful('prio', 'prio', 'prio', '2', stash=False),
    classful('a strict band of ets', 'ets', 'ets bands 2 strict 2 priomap 0', '1'),
    classful('a shared band of ets', 'ets', 'ets bands 2 strict 1 quanta 1514 priomap 1', '2'),
    by_class('drr', 'drr', 'drr', 'quantum 1514', True),
    by_class('qfq', 'qfq', 'qfq', 'weight 1 maxpkt 1514', True, eager=True, ahead=True),
    by_class('htb', 'htb', 'htb default 1', 'rate 1gbit burst 100k cburst 100k quantum 1514', False),
    by_class('hfsc, link-sharing', 'hfsc', 'hfsc default 1', 'ls rate 1gbit', False),
    by_class('hfsc, real-time', 'hfsc', 'hfsc default 1', 'sc rate 1gbit', False, ahead=True),
    classful('red', 'red',
             'red limit 1m min 100k max 300k avpkt 1000 burst 200 bandwidth 1gbit', '1',
             stash=False, bare=True),
    classful('sfb', 'sfb', 'sfb', '1', stash=False, bare=True),
    # Whole bytes of credit in whole ns: with others, in virtual time, the rounding of cbs ends in timers
    # that bring it nothing, whatever its child.
    classful('cbs', 'cbs', 'cbs locredit -1514 hicredit 1514 sendslope -2000 idleslope 8000', '1',
             needs=('NET_SCH_CBS',), slow=True),
]
BY_NAME = {p.name: p for p in PARENTS}


def hold(burst=FRAME, dev=DEV, at='root', handle='1', verb='add'):
    """Sends `burst` bytes, then a frame each 10 s."""
    return 'qdisc {} dev {} {} handle {}: tbf rate 80bit burst {}b limit 1m'.format(
        verb, dev, at, handle, burst)


def show_and_release(before=(), dev=DEV, at='root', handle='1', to='10.9.0.2', wait=''):
    """Two steps: what is held, and what there is when all was sent and a frame more."""
    loose = 'qdisc change dev {} {} handle {}: tbf {}'.format(dev, at, handle, LOOSE)
    return [show(dev, *before, loose), flow(1, to=to) + wait + '\n' + show(dev)]


# ---- what any kind owes to its parents ----

def usual(add, p, kind, make, words=''):
    """Cases of the kind below `p`, by add(name, setup, command, verify, pattern); make(words, slot, handle, verb) is
    a line of tc, `words` what a new one has to be told."""
    slot = '2:' + p.slot
    top = [hold()] + p.make()
    stash = (FRAME, 1) if p.stash else (0, 0)
    wait = ' && sleep 1' if p.slow else ''
    every = (('tbf', '1'), (p.kind, '2'), (kind, '3'))
    new = make(words, slot)
    held = [loaded([*top, new], flow(6))]

    def limited(size):
        return make(' '.join(['limit ' + size, words]).strip(), slot)

    def change(options):
        return make(options, slot, verb='change')

    def release(*before):
        return show_and_release(before, wait=wait)

    def empty():
        """What those above have when it is gone."""
        return [stats('tbf', '1', stash), stats(p.kind, '2', stash)]

    def none(*sent):
        return [stats(*q, (0, 0), *sent) for q in every]

    total = ((100 if p.bare else 200) + stash[0], (1 if p.bare else 2) + stash[1])
    add('deleted while it holds packets, under the handle ffff:',
        [loaded([*top, make(words, slot, 'ffff')], flow(6))],
        tc('qdisc del dev {} parent {} handle ffff:'.format(DEV, slot)), steps(*release()),
        pattern(after(1, *empty()), after(2, stats('tbf', '1', (0, 0), total))))
    # A real-time class of hfsc that was backlogged then is lost, and cbs does not reset its child,
    # whatever that is.
    if p.name not in ('hfsc, real-time', 'cbs'):
        add('the device goes down and up while it holds packets',
            held, batch('$IP', ['link set {} down'.format(DEV), 'link set {} up'.format(DEV)]),
            steps(show(), flow(1) + '\n' + show()),
            pattern(after(1, *none()),
                    after(2, stats('tbf', '1', (0, 0), (200, 2)), stats(p.kind, '2', (0, 0)),
                          stats(kind, '3', (0, 0), (400, 4) if p.ahead else (300, 3)))))
    own = (100, 1) if p.stash else (200, 2)
    add('every frame is dropped, with tbf above to peek',
        [loaded([*top, limited('50')], flow(3))],
        tc(change('limit 1m')), steps(show(), flow(3) + '\n' + release()[0], release()[1]),
        pattern(after(1, *none((0, 0))),
                after(2, stats('tbf', '1', (200, 2)), stats(p.kind, '2', (200, 2)), stats(kind, '3', own, dropped=3)),
                after(3, stats('tbf', '1', (0, 0), (400, 4)), stats(p.kind, '2', (0, 0), (400, 4)),
                      stats(kind, '3', (0, 0), (400, 4), dropped=3))))
    add('every frame is dropped at the root',
        [loaded([*p.make(at='root'), limited('50')], flow(5))],
        tc(change('limit 1m')), steps(show(), flow(3) + wait + '\n' + show()),
        pattern(after(1, stats(p.kind, '2', (0, 0)), stats(kind, '3', (0, 0), (0, 0), 5)),
                after(2, stats(p.kind, '2', (0, 0), (300, 3)), stats(kind, '3', (0, 0), (300, 3), 5))))
    add('netem above sends each frame twice',
        [tc('qdisc add dev {} root handle 1: netem duplicate 100%'.format(DEV), *p.make(), new)],
        flow(2) + wait, steps(show()),
        pattern(after(1, stats('netem', '1', (0, 0), (400, 4)), stats(p.kind, '2', (0, 0), (400, 4)),
                      stats(kind, '3', (0, 0), (400, 4), 0))))
    total = (200 + stash[0], 2 + stash[1])
    if p.redo:
        add('its class is deleted while it holds packets',
            held, tc(*p.take()), steps(*release(*p.bring(), new)),
            pattern(after(1, *empty()),
                    after(2, stats('tbf', '1', (0, 0), total), stats(kind, '3', (0, 0), (100, 1)))))
