//! The order in which functions are looked at: those that are called before those that call them,
//! and which call each other in a cycle.

use crate::facts::FunctionId;

/// Functions that call each other (Tarjan's algorithm, iterative). Each component comes after
/// those that it calls.
pub fn components(callees: &[Vec<FunctionId>]) -> Vec<Vec<FunctionId>> {
    let count = callees.len();
    let mut number = vec![0_u32; count];
    let mut low = vec![0_u32; count];
    let mut on_stack = vec![false; count];
    let (mut next, mut stack, mut found) = (1, Vec::new(), Vec::new());
    for root in 0..count {
        if number[root] != 0 {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some(&mut (at, ref mut edge)) = path.last_mut() {
            if *edge == 0 && number[at] == 0 {
                (number[at], low[at]) = (next, next);
                next += 1;
                stack.push(at);
                on_stack[at] = true;
            }
            if let Some(&to) = callees[at].get(*edge) {
                *edge += 1;
                let to = to as usize;
                if number[to] == 0 {
                    path.push((to, 0));
                } else if on_stack[to] {
                    low[at] = low[at].min(number[to]);
                }
                continue;
            }
            path.pop();
            if let Some(&(caller, _)) = path.last() {
                low[caller] = low[caller].min(low[at]);
            }
            if low[at] == number[at] {
                let place = stack.iter().rposition(|&f| f == at).unwrap_or_default();
                let members = stack.split_off(place);
                members.iter().for_each(|&member| on_stack[member] = false);
                found.push(members.into_iter().map(|member| member as FunctionId).collect());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn cycles_are_one_component_and_come_after_what_they_call() {
        let mut found = components(&[vec![1, 3], vec![2], vec![1, 4], vec![3], vec![]]);
        found.iter_mut().for_each(|members| members.sort_unstable());
        assert_eq!(found, [vec![4], vec![1, 2], vec![3], vec![0]]);
    }
}
