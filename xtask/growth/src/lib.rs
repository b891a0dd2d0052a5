//! The programs of `cargo xtask bench growth`: one of each family of the corpus, with a number of
//! threads and of operations each does.

#[cfg(test)]
mod atomics;
#[cfg(test)]
mod list;
#[cfg(test)]
mod locks;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod objects;
#[cfg(test)]
mod structures;
#[cfg(test)]
mod waiting;

/// So many threads do the same, each with its number from 0 on, and are joined.
#[cfg(test)]
fn each(threads: usize, body: impl Fn(usize) + Clone + Send + 'static) {
    let bodies = (0..threads).map(|number| (number, body.clone()));
    let handles: Vec<_> =
        bodies.map(|(number, body)| std::thread::spawn(move || body(number))).collect();
    for handle in handles {
        handle.join().unwrap();
    }
}

#[cfg(test)]
mod cells {
    /// `threads_3::operations_2` and so on, of one program.
    macro_rules! threads {
        ($file:ident::$program:ident: $($module:ident $threads:tt)*) => { $(
            mod $module {
                cells! { $file::$program $threads:
                    operations_1 1 operations_2 2 operations_3 3 operations_4 4 operations_5 5 operations_6 6
                }
            }
        )* };
    }
    macro_rules! cells {
        ($file:ident::$program:ident $threads:tt: $($test:ident $operations:tt)*) => { $(
            #[test]
            fn $test() {
                crate::$file::$program($threads, $operations);
            }
        )* };
    }
    macro_rules! programs {
        ($($file:ident::$program:ident $what:literal,)*) => { $(
            mod $program {
                threads! { $file::$program:
                    threads_1 1 threads_2 2 threads_3 3 threads_4 4 threads_5 5 threads_6 6
                }
            }
        )* };
    }
    crate::list::each_family!(programs);
}
