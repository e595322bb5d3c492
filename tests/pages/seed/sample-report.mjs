/* A report of many busy days. The local host cannot have chats of earlier days, so the browser gets this in place of its
   response. */

const DAY_MS = 86_400_000;
const BUCKETS_PER_DOUBLING = 4;

/** Returns a generator of pseudo-random numbers from 0 (inclusive) to 1 (exclusive), which are the same in each run. */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

const CHANNEL_SHARES = [
  { name: "Shop", share: 0.55, failures: 0.02 },
  { name: "iOS app", share: 0.3, failures: 0.06 },
  { name: "Partner portal", share: 0.15, failures: 0 },
];
/** The shares of the agents in the chats that agents closed. The last agent has been deleted. */
const AGENT_SHARES = [0.46, 0.34, 0.15, 0.05];

/** Returns what is counted for a channel on a day. The numbers depend only on the day and the channel. */
function countsOf(dayMs, channel, index) {
  const next = randomNumbers(Math.floor(dayMs / DAY_MS) * 31 + index * 7);
  const weekday = new Date(dayMs).getUTCDay();
  const opened = Math.round(
    (weekday % 6 === 0 ? 30 : 64) * channel.share * (0.75 + next() * 0.5),
  );
  const bot = Math.round(opened * (0.36 + next() * 0.2));
  const nobody = Math.round(opened * next() * 0.12);
  const open = Math.round(opened * next() * 0.04);
  const agent = Math.max(0, opened - bot - nobody - open);
  const durations = (count, median) =>
    Array.from(
      { length: count },
      () => median * Math.exp((next() + next() + next() - 1.5) * 2.2),
    );
  return {
    opened,
    settled_by: { agent, bot, nobody },
    firstAnswers: durations(agent, 42),
    lengths: durations(opened - open, 540),
    ratings: {
      positive: Math.round(agent * (0.3 + next() * 0.2)),
      negative: Math.round(agent * next() * 0.08),
    },
    talks: durations(index === 0 ? Math.round(next() * 4) : 0, 150),
    failedCalls: index === 0 && next() < 0.4 ? 1 : 0,
    failed_deliveries: {
      telephony: index === 0 && next() < 0.05 ? 1 : 0,
      channel:
        next() < 0.3 ? Math.round(opened * channel.failures * next()) : 0,
      bot: index === 0 && next() < 0.1 ? 1 : 0,
      webhook:
        next() < 0.4 ? Math.round(opened * channel.failures * 2 * next()) : 0,
    },
  };
}

const bucketOf = (seconds) =>
  seconds < 1 ? 0 : Math.floor(Math.log2(seconds) * BUCKETS_PER_DOUBLING) + 1;
const limit = (bucket) =>
  bucket === 0 ? 0 : 2 ** ((bucket - 1) / BUCKETS_PER_DOUBLING);

function histogram(seconds) {
  const counts = new Map();
  for (const value of seconds)
    counts.set(bucketOf(value), (counts.get(bucketOf(value)) ?? 0) + 1);
  return [...counts]
    .sort(([a], [b]) => a - b)
    .map(([bucket, count]) => ({
      from: limit(bucket),
      to: limit(bucket + 1),
      count,
    }));
}

function duration(seconds) {
  const sorted = [...seconds].sort((a, b) => a - b);
  const at = (share) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ??
    null;
  return { count: sorted.length, median: at(0.5), percentile_90: at(0.9) };
}

function totals(counted) {
  const sum = (valueOf) =>
    counted.reduce((sum, counts) => sum + valueOf(counts), 0);
  const each = (field, names) =>
    Object.fromEntries(
      names.map((name) => [name, sum((counts) => counts[field][name])]),
    );
  return {
    opened: sum(({ opened }) => opened),
    settled_by: each("settled_by", ["agent", "bot", "nobody"]),
    first_answer: duration(counted.flatMap(({ firstAnswers }) => firstAnswers)),
    length: duration(counted.flatMap(({ lengths }) => lengths)),
    ratings: each("ratings", ["positive", "negative"]),
    failed_deliveries: each("failed_deliveries", [
      "channel",
      "bot",
      "webhook",
      "telephony",
    ]),
    talk_time: duration(counted.flatMap(({ talks }) => talks)),
    calls: {
      callback: {
        answered: sum(({ talks }) => talks.length),
        failed: sum(({ failedCalls }) => failedCalls),
      },
      incoming: { answered: 0, failed: 0 },
      outgoing: { answered: 0, failed: 0 },
    },
    drafts: { suggested: 0, taken: 0, edited: 0, ignored: 0 },
  };
}

const daysBefore = (firstDaysAgo, days, channels) =>
  Array.from({ length: days }, (_, index) => {
    const dayMs = Date.now() - (firstDaysAgo - index) * DAY_MS;
    const counts = channels.map((channel, index) => ({
      channel,
      ...countsOf(dayMs, channel, index),
    }));
    return { day: new Date(dayMs).toISOString().slice(0, 10), counts };
  });

function reportOf(channels, agents, count) {
  const days = daysBefore(count - 1, count, channels);
  const all = days.flatMap(({ counts }) => counts);
  const previous = daysBefore(2 * count - 1, count, channels);
  const closedByAgents = all.reduce(
    (sum, { settled_by }) => sum + settled_by.agent,
    0,
  );
  const histogramOf = (field) =>
    histogram(all.flatMap((counts) => counts[field]));
  return {
    time_zone: "Europe/Berlin",
    percentile_error: 0.091,
    total: totals(all),
    previous: totals(previous.flatMap(({ counts }) => counts)),
    distributions: {
      first_answer: histogramOf("firstAnswers"),
      length: histogramOf("lengths"),
      talk_time: histogramOf("talks"),
    },
    days: days.map(({ day, counts }) => ({ day, totals: totals(counts) })),
    channels: channels.map((channel) => ({
      channel_id: channel.id,
      name: channel.name,
      totals: totals(all.filter((counts) => counts.channel === channel)),
    })),
    agents: AGENT_SHARES.map((share, index) => ({
      agent_id: agents[index]?.id ?? 9,
      name: agents[index]?.name ?? null,
      chats: Math.round(closedByAgents * share),
    })),
  };
}

/** Lets a page show the sample report of the sample account. */
export function showSampleReport({ page, account }) {
  const { admin, agents, channel, app, portal } = account;
  const ids = [channel.id, app.id, portal.id];
  const channels = CHANNEL_SHARES.map((share, index) => ({
    id: ids[index],
    ...share,
  }));
  return page.route("**/admin/reports*", (route) => {
    const { searchParams } = new URL(route.request().url());
    const id = searchParams.get("channel_id");
    const shown = channels.filter(
      (channel) => (id ?? channel.id) === channel.id,
    );
    const days = Number(searchParams.get("days") ?? 30);
    return route.fulfill({ json: reportOf(shown, [admin, ...agents], days) });
  });
}
