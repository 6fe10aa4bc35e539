//! What repeating blocks does to an estimate: nothing where they are chosen by the machine's state, and a bias where they are
//! chosen by their results.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::paired::hodges_lehmann;
use super::simulation::normal;

const BLOCKS: usize = 10;
/// One in five, as a run has it.
const REPEATED_MAX: usize = 2;
const EXPERIMENTS: u32 = 4_000;
/// In one block of five others use more than this: of the standard normal, what is cut off at 0.
const DISTURBED: f64 = 0.84;

/// A block: by how much the logarithm of its ratio is off the true one, and what others used of the machine meanwhile. They
/// make the ratio three times as noisy.
#[derive(Clone, Copy)]
struct Block {
    off: f64,
    others: f64,
}

impl Block {
    fn draw(random: &mut Xoshiro256PlusPlus) -> Self {
        let others = normal(random).max(0.0);
        let noise = if others > DISTURBED { 0.06 } else { 0.02 };
        Self { off: noise * normal(random), others }
    }

    fn is_disturbed(&self) -> bool {
        self.others > DISTURBED
    }
}

/// The mean, over many experiments, of an estimate whose truth is 0, and the standard error of that mean.
fn bias(is_repeated: impl Fn(&Block) -> bool) -> (f64, f64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(17);
    let mut estimates = Vec::new();
    for _ in 0..EXPERIMENTS {
        let mut repeated = 0;
        let mut blocks = Vec::new();
        for _ in 0..BLOCKS {
            let mut block = Block::draw(&mut random);
            if repeated < REPEATED_MAX && is_repeated(&block) {
                repeated += 1;
                block = Block::draw(&mut random);
            }
            blocks.push(block.off);
        }
        estimates.push(hodges_lehmann(&blocks).expect("there are blocks"));
    }
    let count = f64::from(EXPERIMENTS);
    let mean = estimates.iter().sum::<f64>() / count;
    let variance = estimates.iter().map(|it| (it - mean) * (it - mean)).sum::<f64>() / (count - 1.0);
    (mean, libm::sqrt(variance / count))
}

#[test]
fn blocks_repeated_by_the_machines_state_bias_nothing_and_by_their_results_they_do() {
    let (none, error) = bias(|_| false);
    assert!(none.abs() < 4.0 * error, "{none} {error}");
    let (by_state, error) = bias(Block::is_disturbed);
    assert!(by_state.abs() < 4.0 * error, "{by_state} {error}");
    // Where the first stack did badly, it is given another chance: half a per cent here.
    let (by_result, error) = bias(|block| block.off < -0.02);
    assert!(by_result > 20.0 * error && by_result > 0.003, "{by_result} {error}");
    // That somebody disturbed it excuses nothing.
    let (by_both, error) = bias(|block| block.is_disturbed() && block.off < 0.0);
    assert!(by_both > 15.0 * error, "{by_both} {error}");
}
