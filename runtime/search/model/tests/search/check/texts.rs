//! Texts of programs that several tests look at.

/// `declarations`, and `number` threads that all have `body`, in which `#` stands for the thread's
/// number and `>` for the next.
pub fn same(declarations: &str, number: u32, body: &str) -> String {
    let thread = |i: u32| {
        let body = body.replace('#', &i.to_string()).replace('>', &(i + 1).to_string());
        format!("thread T{i} {{ {body} }}\n")
    };
    format!("{declarations}\n{}", (0..number).map(thread).collect::<String>())
}

/// So many philosophers around a table, who take their left fork first (or, `ordered`, the lower
/// one) and do `body` with both, in which `<` and `>` stand for the forks' numbers.
pub fn philosophers(number: u32, ordered: bool, body: &str) -> String {
    let mut text = "plain x0 x1 x2 x3 x4; mutex a0 a1 a2 a3 a4;\n".to_owned();
    for i in 0..number {
        let (mut left, mut right) = (i, (i + 1) % number);
        if ordered && left > right {
            (left, right) = (right, left);
        }
        let eat = body.replace('<', &left.to_string()).replace('>', &right.to_string());
        text.push_str(&format!(
            "thread T{i} {{ lock a{left}; lock a{right}; {eat} unlock a{right}; unlock a{left} }}\n"
        ));
    }
    text
}
