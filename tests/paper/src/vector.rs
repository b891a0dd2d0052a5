//! The constructor of `java.util.Vector` that copies a collection, as in Suwimonteerabuth, Esparza and Schwoon, section 5.1: in
//! Java 5 it asks for the size and for the elements in two steps.

use std::sync::{Arc, Mutex};
use std::thread::spawn;

/// A vector whose methods are synchronized. As in Java, an element may be null.
struct Vector {
    data: Mutex<Data>,
}

#[derive(Default)]
struct Data {
    elements: Vec<Option<u8>>,
    count: usize,
}

impl Vector {
    fn new() -> Self {
        Self { data: Mutex::default() }
    }

    /// The constructor of Java 5.
    // atomic: from the size to the elements
    fn copy_of_java5(other: &Self) -> Self {
        let count = other.size();
        let mut elements = vec![None; count * 110 / 100];
        other.copy_into(&mut elements);
        Self { data: Mutex::new(Data { elements, count }) }
    }

    /// The constructor of Java 6.
    fn copy_of_java6(other: &Self) -> Self {
        let elements = other.to_array();
        let count = elements.len();
        Self { data: Mutex::new(Data { elements, count }) }
    }

    fn size(&self) -> usize {
        self.data.lock().unwrap().count
    }

    fn is_empty(&self) -> bool {
        self.size() == 0
    }

    fn element_at(&self, index: usize) -> Option<u8> {
        let data = self.data.lock().unwrap();
        assert!(index < data.count, "ArrayIndexOutOfBoundsException");
        data.elements[index]
    }

    fn add(&self, element: u8) {
        let mut data = self.data.lock().unwrap();
        let count = data.count;
        data.elements.truncate(count);
        data.elements.push(Some(element));
        data.count += 1;
    }

    fn remove_all_elements(&self) {
        let mut data = self.data.lock().unwrap();
        data.elements.fill(None);
        data.count = 0;
    }

    /// `toArray(T[])`: into the array if all fit in, else the array stays as it is.
    fn copy_into(&self, array: &mut [Option<u8>]) {
        let data = self.data.lock().unwrap();
        if array.len() >= data.count {
            array[..data.count].copy_from_slice(&data.elements[..data.count]);
        }
    }

    /// `toArray()`.
    fn to_array(&self) -> Vec<Option<u8>> {
        let data = self.data.lock().unwrap();
        data.elements[..data.count].to_vec()
    }
}

/// The test of the paper, for every element of so many bits.
fn copy_while_cleared(bits: u32, copy_of: fn(&Vector) -> Vector) {
    let x = lockred::any_in(0..=u8::MAX >> (8 - bits));
    let v1 = Arc::new(Vector::new());
    v1.add(x);
    let clearing = Arc::clone(&v1);
    let thread = spawn(move || clearing.remove_all_elements());
    let v2 = copy_of(&v1);
    assert!(v2.is_empty() || v2.element_at(0) == Some(x)); //~ bug of java5_1_bit, java5_2_bits, java5_3_bits, java5_4_bits, java5_5_bits, java5_6_bits, java5_7_bits, java5_8_bits
    thread.join().unwrap();
}

//@ failed panic
//@ preemptions = 1
#[test]
fn java5_1_bit() {
    copy_while_cleared(1, Vector::copy_of_java5);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn java5_2_bits() {
    copy_while_cleared(2, Vector::copy_of_java5);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn java5_3_bits() {
    copy_while_cleared(3, Vector::copy_of_java5);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn java5_4_bits() {
    copy_while_cleared(4, Vector::copy_of_java5);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn java5_5_bits() {
    copy_while_cleared(5, Vector::copy_of_java5);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn java5_6_bits() {
    copy_while_cleared(6, Vector::copy_of_java5);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn java5_7_bits() {
    copy_while_cleared(7, Vector::copy_of_java5);
}

//@ failed panic
//@ preemptions = 1
#[test]
fn java5_8_bits() {
    copy_while_cleared(8, Vector::copy_of_java5);
}

//@ verified
//@ executions = 4
#[test]
fn java6_1_bit() {
    copy_while_cleared(1, Vector::copy_of_java6);
}

//@ verified
//@ executions = 8
#[test]
fn java6_2_bits() {
    copy_while_cleared(2, Vector::copy_of_java6);
}

//@ verified
//@ executions = 16
#[test]
fn java6_3_bits() {
    copy_while_cleared(3, Vector::copy_of_java6);
}

//@ verified
//@ executions = 32
#[test]
fn java6_4_bits() {
    copy_while_cleared(4, Vector::copy_of_java6);
}

//@ verified
//@ executions = 64
#[test]
fn java6_5_bits() {
    copy_while_cleared(5, Vector::copy_of_java6);
}

//@ verified
//@ executions = 128
#[test]
fn java6_6_bits() {
    copy_while_cleared(6, Vector::copy_of_java6);
}

//@ verified
//@ executions = 256
#[test]
fn java6_7_bits() {
    copy_while_cleared(7, Vector::copy_of_java6);
}

//@ verified
//@ executions = 512
#[test]
fn java6_8_bits() {
    copy_while_cleared(8, Vector::copy_of_java6);
}
