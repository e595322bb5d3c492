/* The reports, the audit log and the export of chats of the mock service. */

const DAY_MS = 86_400_000;
const BUCKETS_PER_DOUBLING = 4;
/** Small, so that an export needs several requests. */
const ENTRIES_PER_PAGE = 12;
const AUDIT_PAGE = 8;

/** Returns a generator of pseudo-random numbers from 0 (inclusive) to 1 (exclusive), which are the same in each run. */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

const CHANNEL_SHARES = [
  { channel_id: "ch_1", name: "Shop widget", share: 0.55, failures: 0.02 },
  { channel_id: "ch_2", name: "iOS app", share: 0.3, failures: 0.06 },
  { channel_id: "ch_3", name: "Partner portal", share: 0.15, failures: 0 },
];

/** Returns what is counted for a channel on a day. The numbers depend only on the day and the channel. */
function countsOf(dayMs, channel, index) {
  const next = randomNumbers(Math.floor(dayMs / DAY_MS) * 31 + index * 7);
  const weekday = new Date(dayMs).getUTCDay();
  const opened = Math.round((weekday % 6 === 0 ? 30 : 64) * channel.share * (0.75 + next() * 0.5));
  const bot = Math.round(opened * (0.36 + next() * 0.2));
  const nobody = Math.round(opened * next() * 0.12);
  const open = Math.round(opened * next() * 0.04);
  const agent = Math.max(0, opened - bot - nobody - open);
  const durations = (count, median) =>
    Array.from({ length: count }, () => median * Math.exp((next() + next() + next() - 1.5) * 2.2));
  return {
    opened,
    settled_by: { agent, bot, nobody },
    firstAnswers: durations(agent, 42),
    lengths: durations(opened - open, 540),
    ratings: { positive: Math.round(agent * (0.3 + next() * 0.2)), negative: Math.round(agent * next() * 0.08) },
    talks: durations(index === 0 ? Math.round(next() * 4) : 0, 150),
    failedCalls: index === 0 && next() < 0.4 ? 1 : 0,
    failed_deliveries: {
      telephony: index === 0 && next() < 0.05 ? 1 : 0,
      channel: next() < 0.3 ? Math.round(opened * channel.failures * next()) : 0,
      bot: index === 0 && next() < 0.1 ? 1 : 0,
      webhook: next() < 0.4 ? Math.round(opened * channel.failures * 2 * next()) : 0,
    },
  };
}

const bucketOf = (seconds) => (seconds < 1 ? 0 : Math.floor(Math.log2(seconds) * BUCKETS_PER_DOUBLING) + 1);
const limit = (bucket) => (bucket === 0 ? 0 : 2 ** ((bucket - 1) / BUCKETS_PER_DOUBLING));

function histogram(seconds) {
  const counts = new Map();
  for (const value of seconds) counts.set(bucketOf(value), (counts.get(bucketOf(value)) ?? 0) + 1);
  return [...counts]
    .sort(([a], [b]) => a - b)
    .map(([bucket, count]) => ({ from: limit(bucket), to: limit(bucket + 1), count }));
}

function duration(seconds) {
  const sorted = [...seconds].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
  return { count: sorted.length, median: at(0.5), percentile_90: at(0.9) };
}

function totals(counted) {
  const sum = (valueOf) => counted.reduce((sum, counts) => sum + valueOf(counts), 0);
  const each = (field, names) => Object.fromEntries(names.map((name) => [name, sum((counts) => counts[field][name])]));
  return {
    opened: sum(({ opened }) => opened),
    settled_by: each("settled_by", ["agent", "bot", "nobody"]),
    first_answer: duration(counted.flatMap(({ firstAnswers }) => firstAnswers)),
    length: duration(counted.flatMap(({ lengths }) => lengths)),
    ratings: each("ratings", ["positive", "negative"]),
    failed_deliveries: each("failed_deliveries", ["channel", "bot", "webhook", "telephony"]),
    talk_time: duration(counted.flatMap(({ talks }) => talks)),
    calls: {
      callback: { answered: sum(({ talks }) => talks.length), failed: sum(({ failedCalls }) => failedCalls) },
      incoming: { answered: 0, failed: 0 },
      outgoing: { answered: 0, failed: 0 },
    },
  };
}

/** Returns the report of the last days. An account without channels has no chats. */
export function report({ channels, agents, settings, now }, query) {
  const count = Number(query.get("days") ?? 30);
  const chosen = CHANNEL_SHARES.filter(
    ({ channel_id }) => channels.length > 0 && (query.get("channel_id") ?? channel_id) === channel_id,
  );
  const counted = (firstDaysAgo, days) =>
    Array.from({ length: days }, (_, index) => {
      const dayMs = now * 1000 - (firstDaysAgo - index) * DAY_MS;
      return {
        day: new Date(dayMs).toISOString().slice(0, 10),
        counts: chosen.map((channel) => ({ channel, ...countsOf(dayMs, channel, CHANNEL_SHARES.indexOf(channel)) })),
      };
    });
  const days = counted(count - 1, count);
  const all = days.flatMap(({ counts }) => counts);
  const closedByAgents = all.reduce((sum, { settled_by }) => sum + settled_by.agent, 0);
  const shares = [0.46, 0.34, 0.15, 0.08];
  return {
    time_zone: settings.time_zone,
    percentile_error: 0.091,
    total: totals(all),
    previous: totals(counted(2 * count - 1, count).flatMap(({ counts }) => counts)),
    distributions: {
      first_answer: histogram(all.flatMap(({ firstAnswers }) => firstAnswers)),
      length: histogram(all.flatMap(({ lengths }) => lengths)),
      talk_time: histogram(all.flatMap(({ talks }) => talks)),
    },
    days: days.map(({ day, counts }) => ({ day, totals: totals(counts) })),
    channels: chosen.map(({ channel_id, name }) => ({
      channel_id,
      name,
      totals: totals(all.filter(({ channel }) => channel.channel_id === channel_id)),
    })),
    agents: [...agents.slice(0, 3), { id: 9, name: null }]
      .map(({ id, name }, index) => ({ agent_id: id, name, chats: Math.round(closedByAgents * shares[index]) }))
      .filter(({ chats }) => chats > 0),
  };
}

/** Sample changes of the configuration, newest first. */
export function createAuditLog(nowMs) {
  const [marta, jonas] = [
    { id: 1, name: "Marta Lindholm" },
    { id: 2, name: "Jonas Weber" },
  ];
  const entries = [
    [300, marta, "changed", "settings", "", null, ["retention_days", "limits.visitor_messages"]],
    [4000, marta, "rotated", "webhook", "wh1", null, []],
    [9000, jonas, "created", "canned_reply", "r1", "thanks", []],
    [
      90_000,
      marta,
      "changed",
      "channel",
      "ch_1",
      "Shop widget",
      ["widget.color", "widget.title", "widget.texts", "enabled"],
    ],
    [95_000, marta, "created", "bot", "bot1", "Parcel bot", []],
    [180_000, null, "created", "agent", "1", "Marta Lindholm", []],
    [400_000, marta, "deleted", "department", "7", "Summer team with a very long name for its size", []],
    [900_000, marta, "created", "agent", "2", "Jonas Weber", []],
    ...Array.from({ length: 9 }, (_, index) => [
      1_000_000 + index * 60_000,
      marta,
      "changed",
      "channel",
      "ch_2",
      "iOS app",
      ["integrator_url"],
    ]),
  ];
  return entries.map(([secondsAgo, agent, action, kind, resource_id, resource_name, fields], index) => ({
    id: `a${index}`,
    timestamp: Math.floor(nowMs / 1000) - secondsAgo,
    agent,
    source_address: index % 3 === 1 ? "2001:db8:85a3::8a2e:370:7334" : "192.0.2.17",
    action,
    kind,
    resource_id,
    resource_name,
    fields,
  }));
}

export function auditLog({ auditLog }, query) {
  const all = auditLog.filter(
    ({ kind, agent, timestamp }) =>
      (query.get("kind") ?? kind) === kind &&
      (query.get("agent_id") ?? String(agent?.id)) === String(agent?.id) &&
      timestamp >= Number(query.get("from") ?? 0),
  );
  const start = Number(query.get("cursor") ?? 0);
  const end = start + AUDIT_PAGE;
  return { entries: all.slice(start, end), next: end < all.length ? String(end) : null };
}

/** Returns a page of an export: the chats with some of their entries, and the next cursor or null. Returns undefined if
 * the chat does not exist. */
function exportedPage({ chats, visitors }, query) {
  const number = (name, otherwise) => Number(query.get(name) ?? otherwise);
  const isOne = query.has("chat_id");
  const chosen = [...chats.values()].filter(({ chat_id, state, updated_at, channel }) =>
    isOne
      ? chat_id === number("chat_id")
      : state === "closed" &&
        updated_at >= number("from", 0) &&
        updated_at <= number("to", Infinity) &&
        (query.get("channel_id") ?? channel.channel_id) === channel.channel_id,
  );
  if (isOne && chosen.length === 0) return undefined;
  const all = chosen.flatMap((chat) => chat.entries.map((entry) => ({ chat, entry })));
  const start = number("cursor", 0);
  const page = all.slice(start, start + ENTRIES_PER_PAGE);
  const exported = [...new Set(page.map(({ chat }) => chat))].map((chat) => {
    const { chat_id, state, channel, agent, department, opened_at, updated_at, rate = null } = chat;
    const { number, id, name } = visitors.get(chat.visitor);
    const messages = page.filter((line) => line.chat === chat).map(({ entry }) => entry);
    const visitor = { number, id, name };
    return { chat_id, state, channel, visitor, agent, department, opened_at, updated_at, rate, messages };
  });
  const end = start + ENTRIES_PER_PAGE;
  return { chats: exported, next: end < all.length ? String(end) : null };
}

const COLUMNS = ["chat_id", "visitor", "seq", "from", "type", "text"];
const csvLine = (cells) => `${cells.map((cell) => `"${String(cell ?? "").replaceAll('"', '""')}"`).join(",")}\r\n`;

/** Responds to a request for an export. Returns undefined if the chat does not exist. */
export function exportChats(dataset, query, isCsv) {
  const page = exportedPage(dataset, query);
  if (page === undefined) return undefined;
  if (!isCsv) return { status: 200, body: page };
  const lines = page.chats.flatMap(({ chat_id, visitor, messages }) =>
    messages.map(({ seq, from, type, text }) => csvLine([chat_id, visitor.name, seq, from, type, text])),
  );
  return {
    status: 200,
    text: (query.has("cursor") ? "" : `\ufeff${csvLine(COLUMNS)}`) + lines.join(""),
    headers: { "content-type": "text/csv", ...(page.next === null ? {} : { "x-next-cursor": page.next }) },
  };
}
