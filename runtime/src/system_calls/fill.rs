//! Places of the program's memory that a system call fills.

/// The arguments of a system call.
pub type Arguments = [usize; 6];

/// A place that a call fills: which argument it is, and how many bytes.
#[derive(Clone, Copy, Debug)]
pub enum Fill {
    /// Always so many.
    Bytes(usize, usize),
    /// As many as it returns.
    Result(usize),
}

impl Fill {
    /// The address, and how many bytes a call with this result has filled there; `None` where there
    /// is no place.
    pub fn place(self, arguments: Arguments, result: i64) -> Option<(usize, usize)> {
        let (argument, bytes) = match self {
            Self::Bytes(argument, bytes) => (argument, bytes),
            Self::Result(argument) => (argument, usize::try_from(result).unwrap_or(0)),
        };
        let address = arguments[argument];
        (address != 0 && result >= 0 && bytes > 0).then_some((address, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_has_filled_nothing() {
        let arguments = [8, 16, 0, 0, 0, 0];
        assert_eq!(Fill::Bytes(1, 24).place(arguments, 0), Some((16, 24)));
        assert_eq!(Fill::Bytes(2, 24).place(arguments, 0), None);
        assert_eq!(Fill::Result(0).place(arguments, 5), Some((8, 5)));
        assert_eq!(Fill::Result(0).place(arguments, 0), None);
        assert_eq!(Fill::Bytes(1, 24).place(arguments, -1), None);
    }
}
