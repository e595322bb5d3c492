/* The mock service's tests of receivers and requests of deliveries. */

const SAMPLES = {
  test: { event_name: "test" },
  CLIENT_MESSAGE: { event: "CLIENT_MESSAGE", chat_id: 1, message: { type: "TEXT", text: "Where is my parcel?" } },
};

const SAMPLE_ID = "01a1ff91-4a7e-710f-9eb1-1b8f46ecc985";

function requestTo(url, body, id = SAMPLE_ID) {
  return {
    method: "POST",
    url,
    headers: [
      { name: "content-type", value: "application/json" },
      { name: "webhook-id", value: id },
      { name: "webhook-timestamp", value: "1795342861" },
      { name: "webhook-signature", value: "v1,qW0t…" },
    ],
    body: JSON.stringify(body),
    body_truncated: false,
  };
}

/** Returns the result of a test. */
export function receiverTest(url, sample, isFailing) {
  const request = requestTo(url, SAMPLES[sample] ?? { event_name: sample, chat_id: 1, visitor: { name: "Ada" } });
  if (!isFailing)
    return { status: 200, ms: 84, error: null, request, response: { body: '{"result":"ok"}', body_truncated: false } };
  const body = "upstream connect error or disconnect/reset before headers";
  return { status: 503, ms: 212, error: "status 503", request, response: { body, body_truncated: false } };
}

/** Returns a delivery with its request. Returns undefined if it does not exist. */
export function deliveryWithRequest({ deliveries, settings }, chatId, seq) {
  const delivery = deliveries.find((delivery) => delivery.chat_id === chatId && delivery.seq === seq);
  if (delivery === undefined) return undefined;
  if (delivery.state === "superseded")
    return { ...delivery, request: null, request_error: "an agent has accepted the chat" };
  const webhook = settings.webhooks.find(({ webhook_id }) => webhook_id === delivery.webhook_id);
  const url = webhook?.url ?? "https://chat.fjord.example/messages/ch_2";
  const visitor = { name: "Amara Kone", number: "512" };
  const agent = { id: 2, name: "Marta Lindholm" };
  const body = { event_name: delivery.type, chat_id: chatId, visitor, agent };
  return { ...delivery, request: requestTo(url, body, delivery.id), request_error: null };
}

export function deliveryCounts({ deliveries }, query) {
  const count = (state) => {
    if ((query.get("state") ?? state) !== state) return null;
    const found = deliveries.filter(
      (delivery) => delivery.state === state && delivery.since >= Number(query.get("from") ?? 0),
    );
    return { count: found.length, has_more: false };
  };
  return { failed: count("failed"), pending: count("pending") };
}
