//! The list of all families: where the program is, and what it does, for people.

/// Hands the list to a macro.
macro_rules! each_family {
    ($macro:ident) => {
        $macro! {
            locks::locks "each thread adds to one number under one lock",
            locks::own_locks "each thread adds to its own number under its own lock",
            locks::two_locks "each thread takes two locks, in one order",
            locks::rwlocks "one thread writes, the others read",
            locks::spin_locks "each thread adds to one number under a spin lock",
            locks::caches "each thread looks up keys, and computes what is not there",
            waiting::condvars "threads take turns",
            waiting::barriers "all threads meet at a barrier",
            waiting::pools "threads work off a queue: so many jobs in all",
            waiting::parking "the first thread parks until the others have all unparked it",
            messages::channels "each thread sends, one receives",
            messages::pipelines "messages go through a chain of threads",
            messages::actors "each thread asks one that answers",
            atomics::atomics "each thread adds to one number, and asks for the result",
            atomics::own_atomics "each thread adds to a number of its own",
            atomics::orders "one thread publishes values by flags, the others look for them",
            atomics::sequence_locks "one thread writes, the others read once each",
            structures::stacks "each thread pushes on Treiber's stack",
            structures::queues "each thread enqueues in Michael and Scott's queue",
            structures::deques "one thread pushes and takes, the others steal once each",
            objects::lazy "each thread asks for values that are made on first use",
            objects::arcs "each thread clones and drops what is shared",
            objects::scoped "each thread of a scope fills its own part",
        }
    };
}
pub(crate) use each_family;
