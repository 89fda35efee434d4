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
#   (gdb) flight -o FILE	writes all of them to a file for the program flight, which shows trees
#   (gdb) flight -o FILE NAME	only those of the recorder of this instance, if there are more
#
# If returns are recorded, they are shown, too, and at the end the calls of each task that had not
# returned, as far as the rings have them: the task's stack.
#
#   drgn -c vmcore -s vmlinux flight-dump.py [NUMBER | -o FILE [NAME]]
#   drgn -s vmlinux flight-dump.py [NUMBER | -o FILE [NAME]]	(the kernel that runs)
#
# drgn needs a vmlinux with debug information. It knows where the kernel was loaded; gdb has to be told
# the offset from a random address, which the dump has as KERNELOFFSET: "symbol-file -o 0x12000000
# vmlinux". For gdb no debug information is needed: offsets are those of include/linux/ftrace_flight.h,
# and kernel/trace/ftrace/flight.c asserts them. How the words of a ring are read is that of
# kernel/trace/ftrace/flight_read.c.

import bisect
import struct
import sys
import zlib

try:
    import gdb
except ImportError:
    import drgn
    from drgn.helpers.linux.pid import find_task

# struct ftrace_flight
CPU, TIMED, NAME, START, STOP = 16, 24, 32, 48, 64
# struct ftrace_flight_cpu
NEXT, OFF, PID, STOPPED, BASE, END, LAPS, CLEARED, CLEARED_LAP = 0, 8, 12, 16, 24, 48, 72, 88, 96

CALL, EVEN, SWITCH = 1 << 31, 1 << 32, 1 << 63
# The caller that a return has.
RETURN = 0xffffffff80000000
NEVER = (1 << 64) - 1
STT_FUNC = 2
# A symbol of ELF: name, info, other, section, value, size.
SYMBOL = struct.Struct('<IBBHQQ')
NAME_LENGTH = 56
# What a thunk has up to the return address of its function, and behind it: arch/x86/kernel/ftrace/thunks.c.
THUNK_SIZE = 32
THUNK = [0x68, *[None] * 4, 0xe8, *[None] * 4, 0x48, 0x83, 0xc4, 0x10, 0xe8, *[None] * 4]
THUNK_END = [0x6a, 0xff]
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

    def offset(self, structure, member):
        """Where a member is in a structure; None if types are not known."""
        try:
            return int(gdb.parse_and_eval('(unsigned long)&((struct %s *)0)->%s' % (structure, member)))
        except gdb.error:
            return None

    def name(self, address):
        """The name of what has an address and is not in a module; None if it has none."""
        text = gdb.execute('info symbol %#x' % address, to_string=True)
        return None if text.startswith('No symbol') else text.split()[0]

    def comm(self, pid):
        """The name of a task; None if it has ended, or is not known."""
        return None


class Drgn:
    """The same, as drgn knows it."""

    def __init__(self, program):
        self.program = program
        self.functions = []

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

    def offset(self, structure, member):
        return drgn.offsetof(self.program.type('struct ' + structure), member)

    def name(self, address):
        at = bisect.bisect_right(self.functions, (address + 1,)) - 1
        start, size, name = self.functions[at] if at >= 0 else (0, 0, None)
        if address < start + size:
            return name
        try:
            symbol = self.program.symbol(address)
        except LookupError:
            return None
        # drgn goes through all symbols, so each function is asked for once.
        bisect.insort(self.functions, (symbol.address, symbol.size, symbol.name))
        return symbol.name

    def comm(self, pid):
        task = find_task(self.program, pid)
        return task.comm.string_().decode(errors='replace') if task else None


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


def string(text, at):
    return text[at:text.index(b'\0', at)].decode(errors='replace')


def module_functions():
    """Functions of modules that are loaded, as the kernel's kallsyms has them: address, size, name."""
    modules = kernel.symbol('modules')
    if modules is None or kernel.offset('module', 'kallsyms') is None:
        return
    link, name, kallsyms = (kernel.offset('module', member) for member in ('list', 'name', 'kallsyms'))
    symtab, count, strtab = (kernel.offset('mod_kallsyms', member) for member in ('symtab', 'num_symtab', 'strtab'))
    module = u64(modules)
    # The list of a kernel that has crashed may be damaged, and have no end.
    seen = {modules}
    while module not in seen:
        seen.add(module)
        table = u64(module - link + kallsyms)
        owner = string(read(module - link + name, NAME_LENGTH), 0)
        symbols = read(u64(table + symtab), u32(table + count) * SYMBOL.size)
        functions = [(value, size, at) for at, info, _, section, value, size in SYMBOL.iter_unpack(symbols)
                     if info & 15 == STT_FUNC and section]
        # The last text may be at the end of the memory.
        names_at = u64(table + strtab)
        end = max((at for _, _, at in functions), default=0) + names_at
        text = read(names_at, end - names_at)
        while functions and b'\0' not in text[end - names_at:]:
            text += read(names_at + len(text), 1)
        for value, size, at in functions:
            yield value, size, '%s [%s]' % (string(text, at), owner)
        module = u64(module)


names = {}
modules_by_address = None


def module_name(address):
    global modules_by_address
    if modules_by_address is None:
        modules_by_address = []
        try:
            modules_by_address.extend(module_functions())
        except (Wrong, ValueError):
            print('the list of modules is damaged: functions of some have no names')
        modules_by_address.sort()
    at = bisect.bisect_right(modules_by_address, (address + 1,)) - 1
    start, size, name = modules_by_address[at] if at >= 0 else (0, 0, None)
    return name if address < start + size else None


def name_of(address):
    if address not in names:
        # A function that never returns may be called at the end of another one.
        places = address, address - 1, thunk_function(address)
        found = (module_name(place) or kernel.name(place) for place in places)
        names[address] = next(filter(None, found), '%#x' % address)
    return names[address]


def thunk_function(address):
    """If a function with a thunk has jumped to another one, that one's caller is the thunk."""
    if address % THUNK_SIZE != len(THUNK):
        return address
    try:
        data = read(address - len(THUNK), len(THUNK) + len(THUNK_END))
    except Wrong:
        return address
    if all(want is None or byte == want for byte, want in zip(data, THUNK + THUNK_END)):
        address = struct.unpack_from('<i', data, 1)[0] & 0xffffffffffffffff
    return address


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
        # In a virtual machine the kernel may not know; then a cycle is shown as 1 ns.
        self.khz = u32(kernel.symbol('tsc_khz')) or 1000000

    def clock(self, cycles):
        """The time on the trace clock, as the file trace shows it."""
        cycles_run = self.stop[0] - self.start[0]
        if cycles < self.start[0]:
            return self.start[1]
        if cycles_run > 0 and cycles <= self.stop[0]:
            clock_run = self.stop[1] - self.start[1]
            return self.start[1] + (cycles - self.start[0]) * clock_run // cycles_run
        # It was running to the end.
        return self.start[1] + (cycles - self.start[0]) * 1000000 // self.khz

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

    def entries(self):
        """The calls and returns of each CPU."""
        per_cpu = ((cpu, (u64(self.address + CPU) + offset) & 0xffffffffffffffff) for cpu, offset in cpus())
        return [[(time, cpu, *call) for time, *call in self.calls(ring)] for cpu, ring in per_cpu]

    def show(self, last):
        print('recorder of %s' % (self.name or 'the top level'))
        entries = self.entries()
        for time, cpu, pid, site, caller in (entry for of_cpu in entries for entry in of_cpu[-last:]):
            time = (self.clock(time) + 500) // 1000
            call = '%s <-%s' % (name_of(site), name_of(caller))
            if caller == RETURN:
                call = '} /* %s */' % name_of(site)
            print('%7d [%03d] %5d.%06d: %s' % (pid, cpu, time // 1000000, time % 1000000, call))
        calls, tasks = spans(entries)
        if not any(call.end for call in calls):
            return
        for (pid, _), still_open in sorted(tasks.items()):
            if still_open:
                print('%7d open: %s' % (pid, ' <- '.join(name_of(call.site) for call in reversed(still_open))))

    def write(self, path):
        """The file that tools/tracing/flight/src/file.c describes."""
        calls, tasks = spans(self.entries())
        banner = kernel.symbol('linux_banner')
        banner = read(banner, 128).split(b'\n')[0].decode() if banner else '?'
        task_numbers = {task: n for n, task in enumerate(tasks)}
        functions = {}
        data = bytearray()
        last = 0
        for call in calls:
            time = max(self.clock(call.time), last)
            call.end = max(self.clock(call.end), time) - time + 1 if call.end else 0
            function, caller = (functions.setdefault(name_of(at), len(functions)) for at in (call.site, call.caller))
            for value in (time - last, call.cpu, task_numbers[call.task], function, caller, call.end):
                data += number(value)
            last = time
        comms = ((pid, kernel.comm(pid) if pid else '<idle>') for pid, _ in tasks)
        with open(path, 'wb') as out:
            out.write(b'FLIGHT\0\2')
            for kind, content in enumerate((
                    ('kernel=%s\nrecorder=%s\n' % (banner, self.name)).encode() + b'\0',
                    b''.join(name.encode() + b'\0' for name in functions),
                    b''.join(struct.pack('<i', pid) + (comm or '?').encode() + b'\0' for pid, comm in comms),
                    bytes(data), b''), 1):
                packed = zlib.compress(content)
                out.write(struct.pack('<LLQQ', kind, zlib.crc32(content), len(content), len(packed)) + packed)
        print('%d calls of %d tasks' % (len(calls), len(tasks)))


class Call:
    def __init__(self, time, cpu, task, site, caller):
        self.time, self.cpu, self.task, self.site, self.caller = time, cpu, task, site, caller
        self.end = None


def spans(entries):
    """All calls by time, with the times of their returns; and those of each task that have not returned."""
    calls, tasks = [], {}
    for time, cpu, pid, site, caller in sorted(sum(entries, []), key=lambda entry: entry[0]):
        task = pid, 0 if pid else cpu
        still_open = tasks.setdefault(task, [])
        if caller != RETURN:
            # A call whose return was not recorded ends with its caller.
            above = (n for n in range(len(still_open), 0, -1) if name_of(still_open[n - 1].site) == name_of(caller))
            del still_open[next(above, len(still_open)):]
            calls.append(Call(time, cpu, task, site, caller))
            still_open.append(calls[-1])
            continue
        # If the call is older than the rings, nothing that is open was called outside of it.
        while still_open:
            call = still_open.pop()
            if call.site == site:
                call.end = time
                break
    return calls, tasks


def number(value):
    """7 bits a byte, the lowest ones first; bit 7 says that there are more."""
    data = bytearray()
    while value > 0x7f:
        data.append(value & 0x7f | 0x80)
        value >>= 7
    data.append(value)
    return data


def recorders():
    """All recorders, the youngest one first."""
    head = kernel.symbol('ftrace_flights')
    if head is None:
        raise Wrong('this kernel has no flight recorder')
    at = u64(head)
    while at != head:
        yield Recorder(at)
        at = u64(at)


def flight(words):
    """The last calls of all recorders, or a file."""
    if words[:1] == ['-o'] and 2 <= len(words) <= 3:
        found = [r for r in recorders() if r.name == words[2]] if len(words) == 3 else list(recorders())
        if len(found) != 1:
            raise Wrong('which recorder? ' + ', '.join(r.name or "''" for r in recorders()))
        try:
            found[0].write(words[1])
        except OSError as error:
            raise Wrong(str(error)) from None
        return
    last = int(words[0]) if len(words) == 1 and words[0].isdigit() else 0 if words else 20
    if last < 1:
        raise Wrong('usage: flight [NUMBER | -o FILE [NAME]]')
    some = False
    for some in recorders():
        some.show(last)
    if not some:
        print('no flight recorder runs')


def command():
    """Gives gdb the command."""
    class Flight(gdb.Command):
        """flight [NUMBER | -o FILE [NAME]]: the last calls that flight recorders have recorded on each CPU."""

        def __init__(self):
            super().__init__('flight', gdb.COMMAND_DATA)

        def invoke(self, argument, from_tty):
            try:
                flight(gdb.string_to_argv(argument))
            except Wrong as wrong:
                raise gdb.GdbError(str(wrong))

    Flight()


if 'gdb' in globals():
    command()
else:
    try:
        flight(sys.argv[1:])
    except Wrong as wrong:
        sys.exit('flight: %s' % wrong)
