<?php
// A bot provider's server (specification, part B): replies to visitors and invites an agent on request.
//
//     SIGNING_SECRET=whsec_... EVENTS_URL=https://.../bot/webhooks/<provider_id>/<token> php -S 127.0.0.1:8002 bot.php

/** Returns whether the request has a valid signature that is at most five minutes old (www.standardwebhooks.com). */
function is_signed(string $body): bool
{
    [$id, $time] = [$_SERVER['HTTP_WEBHOOK_ID'] ?? '', $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? ''];
    if (abs(time() - (int) $time) > 300) {
        return false;
    }
    $key = base64_decode(substr(getenv('SIGNING_SECRET'), strlen('whsec_')));
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$time.$body", $key, true));
    $signatures = explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '');
    return (bool) array_filter($signatures, fn ($signature) => hash_equals($expected, $signature));
}

function handle_event(array $event): void
{
    $is_message = $event['event'] === 'CLIENT_MESSAGE';
    if ($event['event'] === 'AGENT_UNAVAILABLE') {
        send_text($event, 'Nobody is here right now. Please leave your e-mail address.');
    } elseif ($is_message && str_contains(strtolower($event['message']['text']), 'human')) {
        send_event(['event' => 'INVITE_AGENT', 'chat_id' => $event['chat_id']]);
    } elseif ($is_message) {
        send_text($event, 'We are open from 9 to 5. Write "human" to talk to an agent.');
    }
}

function send_text(array $event, string $text): void
{
    $message = ['type' => 'TEXT', 'text' => $text];
    send_event(['event' => 'BOT_MESSAGE', 'chat_id' => $event['chat_id'], 'message' => $message]);
}

function send_event(array $event): void
{
    $header = 'Content-Type: application/json';
    $http = ['method' => 'POST', 'header' => $header, 'content' => json_encode($event), 'timeout' => 3];
    file_get_contents(getenv('EVENTS_URL'), false, stream_context_create(['http' => $http]));
}

// The bot may send its own events before it responds with status 200. It then accepts the request with the first of
// these events. The service may repeat a request. In production, store the webhook-id of processed requests in your
// database.
$body = file_get_contents('php://input');
if (!is_signed($body)) {
    http_response_code(401);
} else {
    handle_event(json_decode($body, true));
}
