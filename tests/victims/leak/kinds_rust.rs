// Cases as in kinds.h, of Rust's own objects. The table is at the end.
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, LinkedList, VecDeque};
use std::hint::black_box;
use std::mem::ManuallyDrop;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

#[inline(never)]
fn reachable_leaked_to_static() {
    static KEPT: AtomicPtr<[u64; 20]> = AtomicPtr::new(std::ptr::null_mut());
    KEPT.store(Box::leak(Box::new([1; 20])), Ordering::Relaxed);
}

#[inline(never)]
fn definite_box_leaked() {
    black_box(Box::leak(Box::new([2u64; 20])));
}

#[inline(never)]
fn definite_vector_forgotten() {
    std::mem::forget(black_box(vec![3u64; 50]));
}

#[inline(never)]
fn definite_string_forgotten() {
    std::mem::forget(black_box(String::from("a text that nobody has any more")));
}

#[inline(never)]
fn definite_raw_dropped() {
    black_box(Box::into_raw(Box::new([4u64; 9])));
}

struct Peer {
    other: RefCell<Option<Rc<Peer>>>,
    own: RefCell<Option<Box<[u64; 4]>>>,
}

#[inline(never)]
fn definite_rc_circle() -> Rc<Peer> {
    Rc::new(Peer { other: RefCell::new(None), own: RefCell::new(None) })
}

#[inline(never)]
fn indirect_by_circle(p: &Peer) {
    *p.own.borrow_mut() = Some(Box::new([5; 4]));
}

fn rc_circle() {
    let p = definite_rc_circle();
    *p.other.borrow_mut() = Some(p.clone());
    indirect_by_circle(&p);
}

#[inline(never)]
fn reachable_global_vector() {
    static KEPT: Mutex<Vec<u64>> = Mutex::new(Vec::new());
    KEPT.lock().unwrap().extend(0..100);
}

#[inline(never)]
fn reachable_once() {
    static KEPT: OnceLock<String> = OnceLock::new();
    KEPT.get_or_init(|| String::from("a text that is set once"));
}

// A table's pointer is to between its entries and its marks.
#[inline(never)]
fn inner_hash_map() {
    static KEPT: OnceLock<HashMap<u32, String>> = OnceLock::new();
    KEPT.get_or_init(|| (0..50).map(|i| (i, format!("text {i}"))).collect());
}

#[inline(never)]
fn reachable_tree_map() {
    static KEPT: OnceLock<BTreeMap<u32, String>> = OnceLock::new();
    KEPT.get_or_init(|| (0..500).map(|i| (i, format!("text {i}"))).collect());
}

#[inline(never)]
fn reachable_lists() {
    static KEPT: Mutex<(LinkedList<u32>, VecDeque<u32>)> =
        Mutex::new((LinkedList::new(), VecDeque::new()));
    let mut kept = KEPT.lock().unwrap();
    kept.0.extend(0..9);
    kept.1.extend(0..90);
}

#[inline(never)]
fn reachable_arc() {
    static KEPT: OnceLock<Arc<dyn Fn() -> usize + Send + Sync>> = OnceLock::new();
    let captured = vec![1u8; 77];
    KEPT.get_or_init(|| Arc::new(move || captured.len()));
}

thread_local! {
    // Not to be dropped at the end.
    static LOCAL: RefCell<ManuallyDrop<Vec<u64>>> =
        const { RefCell::new(ManuallyDrop::new(Vec::new())) };
    static WEAK: RefCell<ManuallyDrop<Weak<[u64; 9]>>> =
        const { RefCell::new(ManuallyDrop::new(Weak::new())) };
}

#[inline(never)]
fn reachable_thread_local() {
    LOCAL.with(|l| l.borrow_mut().extend(0..40));
}

#[inline(never)]
fn reachable_weak() {
    let strong = Rc::new([6u64; 9]);
    WEAK.with(|w| *w.borrow_mut() = ManuallyDrop::new(Rc::downgrade(&strong)));
}

// A pointer to the object of an Rc, as into_raw gives it, lies behind its counters.
#[inline(never)]
fn inner_rc_raw() {
    static KEPT: AtomicPtr<[u64; 9]> = AtomicPtr::new(std::ptr::null_mut());
    KEPT.store(Rc::into_raw(Rc::new([7u64; 9])) as *mut _, Ordering::Relaxed);
}

#[inline(never)]
fn inner_tagged() {
    static KEPT: AtomicUsize = AtomicUsize::new(0);
    KEPT.store(Box::into_raw(Box::new([8u64; 9])) as usize | 1, Ordering::Relaxed);
}

#[inline(never)]
fn wipe() {
    let mut below = [0u8; 16384];
    black_box(&mut below);
}

const CASES: &[(&str, fn(), &[&str])] = &[
    ("leaked_to_static", reachable_leaked_to_static, &["reachable_leaked_to_static"]),
    ("box_leaked", definite_box_leaked, &["definite_box_leaked"]),
    ("vector_forgotten", definite_vector_forgotten, &["definite_vector_forgotten"]),
    ("string_forgotten", definite_string_forgotten, &["definite_string_forgotten"]),
    ("raw_dropped", definite_raw_dropped, &["definite_raw_dropped"]),
    ("rc_circle", rc_circle, &["definite_rc_circle", "indirect_by_circle"]),
    ("global_vector", reachable_global_vector, &["reachable_global_vector"]),
    ("once", reachable_once, &["reachable_once"]),
    ("hash_map", inner_hash_map, &["inner_hash_map"]),
    ("tree_map", reachable_tree_map, &["reachable_tree_map"]),
    ("lists", reachable_lists, &["reachable_lists"]),
    ("arc", reachable_arc, &["reachable_arc"]),
    ("thread_local", reachable_thread_local, &["reachable_thread_local"]),
    ("weak", reachable_weak, &["reachable_weak"]),
    ("rc_raw", inner_rc_raw, &["inner_rc_raw"]),
    ("tagged", inner_tagged, &["inner_tagged"]),
];

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();

    for (name, run, blocks) in CASES {
        if asked.first().is_some_and(|a| a == "--list") {
            println!("together {name} {}", blocks.join(" "));
        } else if asked.is_empty() || asked.iter().any(|a| a == name) {
            run();
            wipe();
        }
    }
}
