# Commands for gdb, made by `cargo lockred replay --gdb`. Threads of the program are coroutines on one thread of the system.
set pagination off
set confirm off
set print asm-demangle on
set language c
set $lr_saved = 0

define lockred-threads
  set language c
  set $lr_number = 0
  set $lr_thread = *(unsigned long **) &__lr_gdb_threads
  while $lr_number < *(unsigned long *) &__lr_gdb_count
    if $lr_number == 0
      printf "  main      "
    else
      printf "  thread %d  ", $lr_number
    end
    if $lr_thread[1] == 0
      printf "suspended"
    end
    if $lr_thread[1] == 1
      printf "running"
    end
    if $lr_thread[1] == 2
      printf "ended"
    end
    printf "  %s\n", (char *) $lr_thread[2]
    set $lr_number = $lr_number + 1
    set $lr_thread = $lr_thread + 4
  end
  set language auto
end
document lockred-threads
The program's threads.
end

define lockred-thread
  set language c
  if $arg0 >= *(unsigned long *) &__lr_gdb_count
    printf "there is no such thread; lockred-threads shows them\n"
  else
    set $lr_thread = *(unsigned long **) &__lr_gdb_threads + 4 * $arg0
    if $lr_thread[1] == 2
      printf "it has ended\n"
    end
    if $lr_thread[1] == 1
      backtrace
    end
    set $lr_frame = (unsigned long *) $lr_thread[3]
    while *$lr_frame != 0
      info line *(*$lr_frame - 1)
      set $lr_frame = $lr_frame + 1
    end
  end
  set language auto
end
document lockred-thread
lockred-thread N: where thread N is (main is 0), from the inside out.
end

define lockred-back
  if $lr_saved
    frame 0
    set $rsp = $lr_rsp
    set $rbp = $lr_rbp
    set $rbx = $lr_rbx
    set $r12 = $lr_r12
    set $r13 = $lr_r13
    set $r14 = $lr_r14
    set $r15 = $lr_r15
    set $rip = $lr_rip
    set $lr_saved = 0
  end
end
document lockred-back
Back to the stack on which the program was stopped; going on does so by itself.
end

define lockred-switch
  set language c
  lockred-back
  set $lr_thread = *(unsigned long **) &__lr_gdb_threads + 4 * $arg0
  if $arg0 >= *(unsigned long *) &__lr_gdb_count || $lr_thread[1] != 0
    printf "it is not suspended; lockred-threads shows which are\n"
  else
    frame 0
    set $lr_rsp = $rsp
    set $lr_rbp = $rbp
    set $lr_rbx = $rbx
    set $lr_r12 = $r12
    set $lr_r13 = $r13
    set $lr_r14 = $r14
    set $lr_r15 = $r15
    set $lr_rip = $rip
    set $lr_saved = 1
    set $lr_stack = (unsigned long *) $lr_thread[0]
    set $r15 = $lr_stack[1]
    set $r14 = $lr_stack[2]
    set $r13 = $lr_stack[3]
    set $r12 = $lr_stack[4]
    set $rbx = $lr_stack[5]
    set $rbp = $lr_stack[6]
    set $rip = $lr_stack[7]
    set $rsp = (unsigned long) ($lr_stack + 8)
    backtrace
  end
  set language auto
end
document lockred-switch
lockred-switch N: the stack of thread N, suspended, for up, down and info locals. Needs registers that may be written.
end

define hook-continue
  lockred-back
end
define hook-step
  lockred-back
end
define hook-next
  lockred-back
end
define hook-finish
  lockred-back
end
define hook-stepi
  lockred-back
end
define hook-nexti
  lockred-back
end

set language auto
handle SIGSEGV SIGBUS SIGFPE SIGILL stop print pass
break __lr_bug
run
lockred-threads
printf "lockred-thread N shows where a thread is; backtrace: where the program was stopped; help lockred-switch\n"
