//! Accounts, and transfers between them.

use std::sync::Mutex;

/// An account.
#[derive(Debug, Default)]
pub struct Account {
    balance: Mutex<i64>,
}

impl Account {
    /// An account with some money on it.
    pub fn with(balance: i64) -> Self {
        Self { balance: Mutex::new(balance) }
    }

    /// What is on the account.
    pub fn balance(&self) -> i64 {
        *self.balance.lock().unwrap()
    }

    /// Pays in.
    pub fn deposit(&self, amount: i64) {
        *self.balance.lock().unwrap() += amount;
    }
}

/// Moves money, all at once: both accounts are locked, the paying one first.
pub fn transfer(from: &Account, to: &Account, amount: i64) {
    let mut from = from.balance.lock().unwrap();
    let mut to = to.balance.lock().unwrap();
    *from -= amount;
    *to += amount;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn deposits_add_up() {
        let account = Arc::new(Account::with(10));
        let other = Arc::clone(&account);
        let clerk = thread::spawn(move || other.deposit(5));
        account.deposit(7);
        clerk.join().unwrap();
        assert_eq!(account.balance(), 22);
    }

    #[test]
    fn transfers_in_both_directions() {
        let accounts = Arc::new((Account::with(10), Account::with(10)));
        let other = Arc::clone(&accounts);
        let clerk = thread::spawn(move || transfer(&other.0, &other.1, 3));
        transfer(&accounts.1, &accounts.0, 4);
        clerk.join().unwrap();
        assert_eq!(accounts.0.balance(), 11);
        assert_eq!(accounts.1.balance(), 9);
    }
}
