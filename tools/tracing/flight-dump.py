# SPDX-License-Identifier: GPL-2.0-only
#
# The last calls that flight recorders have recorded, from a crash dump or a kernel that runs.
#
#   gdb -x flight-dump.py vmlinux vmcore
#   gdb -x flight-dump.py vmlinux /proc/kcore
#   gdb -x flight-dump.py -ex 'target remote :1234' vmlinux	(QEMU)
#
#   (gdb) flight		the last 20 calls of each CPU
#   (gdb) flight 1000		the last 1000
#
# If returns are recorded, they are shown, too, and at the end the calls of each task that had not
# returned, as far as the rings have them: the task's stack.
#
#   drgn -c vmcore -s vmlinux flight-dump.py [NUMBER]
#   drgn -s vmlinux flight-dump.py [NUMBER]	(the kernel that runs)
#
# drgn needs a vmlinux with debug information. It knows where the kernel was loaded; gdb has to be told
# the offset from a random address, which the dump has as KERNELOFFSET: "symbol-file -o 0x12000000
# vmlinux". For gdb no debug information is needed: offsets are those of include/linux/ftrace_flight.h,
# and kernel/trace/ftrace/flight.c asserts them. How the words of a ring are read is that of
# kernel/trace/ftrace/flight_read.c.

import struct
import sys

try:
    import gdb
except ImportError:
    import drgn

# struct ftrace_flight
CPU, TIMED, NAME, START, STOP = 16, 24, 32, 48, 64
# struct ftrace_flight_cpu
NEXT, OFF, PID, STOPPED, BASE, END, LAPS, CLEARED, CLEARED_LAP = 0, 8, 12, 16, 24, 48, 72, 88, 96

CALL, EVEN, SWITCH = 1 << 31, 1 << 32, 1 << 63
# The caller that a return has.
RETURN = 0xffffffff80000000
NEVER = (1 << 64) - 1
INSN_SIZE = 5
TIMES_AHEAD = 4
PAGE_SIZE = 4096
PRESENT, LARGE, PHYSICAL = 1, 1 << 7, 0x000ffffffffff000


class Wrong(Exception):
    """What the user is told."""


class Gdb:
    """The kernel as gdb knows it."""

    def symbol(self, name):
        """The address of a symbol; None if there is none."""
        try:
            return int(gdb.parse_and_eval('(unsigned long)&' + name))
        except gdb.error:
            return None

    def read(self, address, size):
        """The memory there; None if it has none at this address."""
        try:
            return bytes(gdb.selected_inferior().read_memory(address, size))
        except gdb.MemoryError:
            return None

    def name(self, address):
        """The name of what has an address; None if it has none."""
        text = gdb.execute('info symbol %#x' % address, to_string=True)
        return None if text.startswith('No symbol') else text.split()[0]


class Drgn:
    """The same, as drgn knows it."""

    def __init__(self, program):
        self.program = program

    def symbol(self, name):
        try:
            return self.program.symbol(name).address
        except LookupError:
            return None

    def read(self, address, size):
        try:
            return self.program.read(address, size)
        except drgn.FaultError:
            return None

    def name(self, address):
        try:
            return self.program.symbol(address).name
        except LookupError:
            return None


kernel = Gdb() if 'gdb' in globals() else Drgn(prog)  # noqa: F821


def u64(address):
    return struct.unpack('<Q', read(address, 8))[0]


def u32(address):
    return struct.unpack('<I', read(address, 4))[0]


def variable(name, default):
    address = kernel.symbol(name)
    return default if address is None else u64(address)


def direct_map(address):
    """A dump has the direct map only. Where is an address that vmalloc() has returned?"""
    offset = variable('page_offset_base', 0xffff888000000000)
    shift = kernel.symbol('pgdir_shift')
    shift = 39 if shift is None else u32(shift)
    table = kernel.symbol('init_top_pgt')
    # With SME an entry has a bit that is no part of the address.
    physical = PHYSICAL & ~variable('sme_me_mask', 0)
    while True:
        data = kernel.read(table + (address >> shift & 511) * 8, 8)
        entry = struct.unpack('<Q', data)[0] if data else 0
        if not entry & PRESENT:
            raise Wrong('no memory at address %#x' % address)
        if shift == 12 or entry & LARGE:
            break
        table = offset + (entry & physical)
        shift -= 9
    below = (1 << shift) - 1
    return offset + (entry & physical & ~below | address & below)


def read(address, size):
    data = kernel.read(address, size)
    if data is not None:
        return data
    parts = []
    while size:
        part = min(size, PAGE_SIZE - address % PAGE_SIZE)
        parts.append(kernel.read(direct_map(address), part))
        if parts[-1] is None:
            raise Wrong('no memory at address %#x' % address)
        address += part
        size -= part
    return b''.join(parts)


names = {}


def name_of(address):
    if address not in names:
        names[address] = kernel.name(address) or '%#x' % address
    return names[address]


def cpus():
    """Each possible CPU, and where its per-CPU memory is."""
    number = kernel.symbol('nr_cpu_ids')
    offsets = kernel.symbol('__per_cpu_offset')
    possible = kernel.symbol('__cpu_possible_mask')
    if offsets is None:
        return [(0, 0)]
    return [(cpu, u64(offsets + 8 * cpu)) for cpu in range(u32(number) if number else 1)
            if u64(possible + cpu // 64 * 8) >> cpu % 64 & 1]


class Recorder:
    def __init__(self, address):
        self.address = address
        self.timed = read(address + TIMED, 1) != b'\0'
        name = u64(address + NAME)
        self.name = ''
        while name and (byte := read(name + len(self.name), 1)) != b'\0':
            self.name += byte.decode()
        self.start = u64(address + START), u64(address + START + 8)
        self.stop = u64(address + STOP), u64(address + STOP + 8)

    def clock(self, cycles):
        """The time on the trace clock, as the file trace shows it."""
        cycles_run = self.stop[0] - self.start[0]
        if cycles < self.start[0]:
            return self.start[1]
        if cycles_run > 0 and cycles <= self.stop[0]:
            clock_run = self.stop[1] - self.start[1]
            return self.start[1] + (cycles - self.start[0]) * clock_run // cycles_run
        # It was running to the end.
        return self.start[1] + (cycles - self.start[0]) * 1000000 // u32(kernel.symbol('tsc_khz'))

    def records(self, cpu):
        """The words of a CPU's ring, from the oldest to the youngest, with their times if any."""
        at = (u64(cpu + NEXT) >> 1) | 1 << 63
        odd = u64(cpu + NEXT) & 1
        base = u64(cpu + BASE)
        before, first = at, base
        # What was cleared, unless it is overwritten. In the middle of the end of a lap, only NEXT is of the new lap.
        cleared = u64(cpu + CLEARED) >> 1 | 1 << 63
        age = u64(cpu + LAPS) + (u64(cpu + LAPS) & 1 ^ odd) - u64(cpu + CLEARED_LAP)
        if u64(cpu + CLEARED) and not age:
            before, first = NEVER, cleared
        elif u64(cpu + CLEARED) and age == 1:
            before = max(at, cleared)
        for begin, end, parity in ((before, u64(cpu + END), not odd), (first, at, odd)):
            data = read(begin, end - begin) if end > begin else b''
            words = struct.unpack('<%dQ' % (len(data) // 8), data)
            words = zip(words[0::2], words[1::2]) if self.timed else ((None, w) for w in words)
            for cycles, word in words:
                if not word or bool(word & EVEN) == bool(parity):
                    continue
                if not word & (CALL | SWITCH) and not self.timed:
                    cycles = (word >> 33 & 0x3fffffff) << 31 | word & 0x7fffffff
                yield word, cycles

    def calls(self, cpu):
        """The calls of a CPU: time in cycles, pid, the function and its caller, or RETURN."""
        if not u64(cpu + BASE):
            return
        records = list(self.records(cpu))
        times = [cycles for _, cycles in records if cycles is not None]
        switch = next((word for word, _ in records if not word & CALL and word & SWITCH), None)
        pid = u32(cpu + PID) if switch is None else switch >> 33 & 0x3fffffff
        # Who reads while the CPU records knows no end.
        stopped = u64(cpu + STOPPED) if u32(cpu + OFF) else NEVER
        nth = time = step = 0
        ahead = False
        for index, (word, cycles) in enumerate(records):
            if cycles is not None:
                # An interrupt may have taken the next times before this one was taken.
                time = max(time, min(times[nth:nth + 1 + TIMES_AHEAD] + [stopped]))
                nth += 1
                ahead = False
            elif word & CALL and time:
                if not ahead:
                    step = self.step(records[index:], times[nth:nth + 1 + TIMES_AHEAD] + [stopped], time, step)
                    ahead = True
                time += step
            if not word & CALL:
                pid = word & 0x7fffffff if word & SWITCH else pid
            elif time:
                site = (word & 0xffffffff | 0xffffffff00000000) - INSN_SIZE
                caller = ((word >> 32) + 1 >> 1 | 0xffffffff80000000) & 0xffffffffffffffff
                yield time, pid, site, caller

    def step(self, records, times, time, step):
        """How long it is from a call to the next one, up to the next time; or the last of @times, the stop."""
        calls = 0
        for word, cycles in records:
            if cycles is not None:
                break
            calls += bool(word & CALL)
        limit = min(times)
        if len(times) == 1:
            limit = min(limit, time + (calls + 1) * step)
        return (max(limit, time) - time) // (calls + 1)

    def show(self, last):
        print('recorder of %s' % (self.name or 'the top level'))
        entries = []
        for cpu, offset in cpus():
            ring = (u64(self.address + CPU) + offset) & 0xffffffffffffffff
            entries.append([(time, cpu, *call) for time, *call in self.calls(ring)])
            for time, _, pid, site, caller in entries[-1][-last:]:
                time = (self.clock(time) + 500) // 1000
                call = '%s <-%s' % (name_of(site), name_of(caller))
                if caller == RETURN:
                    call = '} /* %s */' % name_of(site)
                print('%7d [%03d] %5d.%06d: %s' % (pid, cpu, time // 1000000, time % 1000000, call))
        if any(call[-1] == RETURN for of_cpu in entries for call in of_cpu):
            self.show_open(sorted(sum(entries, []), key=lambda call: call[0]))

    def show_open(self, entries):
        """The calls of each task that have no return, the innermost one first."""
        tasks = {}
        for _, cpu, pid, site, caller in entries:
            calls = tasks.setdefault((pid, 0 if pid else cpu), [])
            if caller != RETURN:
                # A call whose return was not recorded ends with its caller.
                above = (n for n in range(len(calls), 0, -1) if name_of(calls[n - 1]) == name_of(caller))
                del calls[next(above, len(calls)):]
                calls.append(site)
            else:
                # If the call is older than the rings, nothing that is open was called outside of it.
                at = len(calls) - 1 - calls[::-1].index(site) if site in calls else 0
                del calls[at:]
        for (pid, _), calls in sorted(tasks.items()):
            if calls:
                print('%7d open: %s' % (pid, ' <- '.join(name_of(site) for site in reversed(calls))))


def flight(argument):
    """The last calls of all recorders; @argument is their number for each CPU."""
    try:
        last = int(argument or '20')
    except ValueError:
        last = 0
    if last < 1:
        raise Wrong('usage: flight [NUMBER]')
    head = kernel.symbol('ftrace_flights')
    if head is None:
        raise Wrong('this kernel has no flight recorder')
    at = u64(head)
    if at == head:
        print('no flight recorder runs')
    while at != head:
        Recorder(at).show(last)
        at = u64(at)


def command():
    """Gives gdb the command."""
    class Flight(gdb.Command):
        """flight [NUMBER]: the last calls that flight recorders have recorded on each CPU."""

        def __init__(self):
            super().__init__('flight', gdb.COMMAND_DATA)

        def invoke(self, argument, from_tty):
            try:
                flight(argument)
            except Wrong as wrong:
                raise gdb.GdbError(str(wrong))

    Flight()


if 'gdb' in globals():
    command()
else:
    try:
        flight(' '.join(sys.argv[1:]))
    except Wrong as wrong:
        sys.exit('flight: %s' % wrong)
