//! Waiting for something to become true.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// How long a test waits before it gives up. Far more than anything takes: the limit ends a test that hangs, and
/// is not an expectation.
pub const LIMIT: Duration = Duration::from_secs(60);

const PAUSE: Duration = Duration::from_millis(50);

/// Asks again and again until there is an answer.
///
/// # Errors
/// When `look` fails, or gives no answer within [`LIMIT`]; `what` then says what was waited for.
pub async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Result<Option<T>>) -> Result<T> {
    let began = Instant::now();
    loop {
        if let Some(answer) = look().await.with_context(|| format!("while waiting for {what}"))? {
            return Ok(answer);
        }
        if began.elapsed() > LIMIT {
            bail!("waited {} s in vain for {what}", LIMIT.as_secs());
        }
        tokio::time::sleep(PAUSE).await;
    }
}
