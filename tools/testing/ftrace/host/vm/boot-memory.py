# SPDX-License-Identifier: GPL-2.0-only
#
# For gdb, which is attached to a guest with one CPU that has not started yet: the allocation with
# the number $nth returns NULL or -ENOMEM, counted from 1 over the functions of the core that allocate
# at boot. WINDOWS in the environment names these functions, in the order in which they run; SKIP has
# words of callers whose allocations do not count. Says how many allocations there are, and which one
# fails.

import os

import gdb

WINDOWS = os.environ['WINDOWS'].split()
SKIP = os.environ['SKIP'].split()
ALLOCATORS = ['__kmalloc_noprof', '__kmalloc_cache_noprof', '__kmalloc_node_noprof',
              '__kmalloc_node_track_caller_noprof', '__kvmalloc_node_noprof', 'kmem_cache_alloc_noprof',
              'vmalloc_noprof', '__vmalloc_noprof', 'execmem_alloc', 'execmem_alloc_rw',
              'ida_alloc_range']


def register(name):
    return int(gdb.parse_and_eval('(unsigned long)$' + name))


def symbol(address):
    return gdb.execute('info symbol %#x' % address, to_string=True).split(' in section')[0].strip()


def return_address():
    return int(gdb.parse_and_eval('*(unsigned long *)$rsp'))


def stop_at(where):
    return gdb.Breakpoint('*' + where, type=gdb.BP_HARDWARE_BREAKPOINT, internal=True)


def of_the_core(outer):
    # An allocator can jump to another allocator, or call it. The others are the base's own.
    return (register('rsp'), return_address()) != outer and \
        not any(word in symbol(return_address()) for word in
                ('vmalloc_', 'execmem_', 'mas_', 'tracepoint_', 'add_tracer', 'create_worker',
                 'copy_process', 'prepare_creds', 'getname_', *SKIP))


def exists(name):
    try:
        gdb.execute('info address ' + name, to_string=True)
    except gdb.error:
        return False
    return True


nth = int(gdb.parse_and_eval('$nth'))
count = 0
outer = None
stop_at('panic')
for window in WINDOWS:
    begin = stop_at(window)
    gdb.execute('continue', to_string=True)
    begin.delete()
    end = return_address()
    stops = [stop_at('%#x' % end)] + [stop_at(name) for name in ALLOCATORS if exists(name)]
    while True:
        gdb.execute('continue', to_string=True)
        if register('rip') == end:
            break
        if symbol(register('rip')) == 'panic':
            # There is no console yet.
            print('panic: ' + gdb.parse_and_eval('(char *)$rdi').string())
            gdb.execute('detach', to_string=True)
            gdb.execute('quit')
        if not of_the_core(outer):
            continue
        outer = (register('rsp'), return_address())
        count += 1
        if count == nth:
            failed = symbol(register('rip'))
            print('fails: %s for %s in %s' % (failed, symbol(return_address()), window))
            gdb.execute('set $rax = %d' % (-12 if failed.startswith('ida_') else 0))
            gdb.execute('set $rip = *(unsigned long *)$rsp')
            gdb.execute('set $rsp = $rsp + 8')
    for stop in stops:
        stop.delete()
print('allocations: %d' % count)
gdb.execute('detach', to_string=True)
