/* Measures the frames and the tasks of a page. What counts is the time that a thread of the browser works on a frame,
   not the time on the clock: on a busy machine, a thread can wait for a processor for longer than a frame. */

const CATEGORIES = ["toplevel", "devtools.timeline"];

/** Measures the frames of the page while `action` runs. Each frame has `clockMs`, the time since the previous frame, and
    `workMs`, the processor time that the thread with the most work used in this time. */
export async function measureFrames(page, action) {
  return framesOf(await trace(page, action));
}

/** Measures the tasks of all threads while `action` runs. `workMs` is the processor time of a task. */
export async function measureTasks(page, action) {
  const tasks = outermostTasks(await trace(page, action));
  return tasks.map(({ tdur }) => ({ workMs: tdur / 1000 }));
}

async function trace(page, action) {
  const browser = page.context().browser();
  await browser.startTracing(page, { categories: CATEGORIES });
  let recorded;
  try {
    await action();
  } finally {
    recorded = await browser.stopTracing();
  }
  return JSON.parse(recorded).traceEvents;
}

function framesOf(events) {
  const starts = events
    .filter(({ name }) => name === "FireAnimationFrame")
    .map(({ ts }) => ts)
    .sort((a, b) => a - b);
  // The task that produces a frame begins shortly before the frame's callbacks, so a task belongs to the frame in which
  // it ends.
  const tasks = outermostTasks(events)
    .filter(({ end }) => end > starts[0])
    .sort((a, b) => a.end - b.end);
  let next = 0;
  return starts.slice(1).map((end, index) => {
    const workByThread = new Map();
    for (; next < tasks.length && tasks[next].end <= end; next++) {
      const { thread, tdur } = tasks[next];
      workByThread.set(thread, (workByThread.get(thread) ?? 0) + tdur / 1000);
    }
    return {
      clockMs: (end - starts[index]) / 1000,
      workMs: Math.max(0, ...workByThread.values()),
    };
  });
}

/** Returns the tasks that threads have run, except those nested in other tasks. Times are in microseconds: `ts` and
    `end` on the clock, `tdur` is the thread's processor time. */
function outermostTasks(events) {
  const lastEnds = new Map();
  return events
    .filter(({ ph, tdur }) => ph === "X" && tdur > 0)
    .map(({ pid, tid, ts, dur, tdur }) => {
      return { thread: `${pid} ${tid}`, ts, dur, end: ts + dur, tdur };
    })
    .sort((a, b) => a.ts - b.ts || b.dur - a.dur)
    .filter(({ thread, ts, end }) => {
      if (ts < (lastEnds.get(thread) ?? 0)) return false;
      lastEnds.set(thread, end);
      return true;
    });
}
