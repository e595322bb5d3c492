<?php
// A bot provider's server (part B of docs/specification.md): replies to visitors and invites an agent on request.
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

/**
 * Sends an event, three times if the service is busy. A rejected event is only reported: the chat of a test event does
 * not exist (400), and an answer may come after the chat was handed over to an agent (403).
 */
function send_event(array $event): void
{
    $header = ['Content-Type: application/json', 'Idempotency-Key: ' . bin2hex(random_bytes(16))];
    $http = ['method' => 'POST', 'header' => $header, 'content' => json_encode($event), 'timeout' => 3];
    $context = stream_context_create(['http' => $http + ['ignore_errors' => true]]);
    for ($attempt = 0; $attempt < 3; $attempt++) {
        $http_response_header = [];
        $response = @file_get_contents(getenv('EVENTS_URL'), false, $context);
        $status = (int) (explode(' ', $http_response_header[0] ?? '')[1] ?? 0);
        if ($status === 200) {
            return;
        }
        if ($status !== 0 && $status !== 429 && $status < 500) {
            break;
        }
        sleep(2 ** $attempt);
    }
    error_log("{$event['event']} was not accepted: HTTP $status $response");
}

/** Responds before the event is handled: the bot must accept an event within three seconds. */
function respond_now(int $status): void
{
    ignore_user_abort(true);
    http_response_code($status);
    header('Content-Length: 0');
    function_exists('fastcgi_finish_request') ? fastcgi_finish_request() : flush();
}

/** Returns whether the event is new. The service may repeat a request. In production, use your database. */
function is_new(string $id): bool
{
    return @mkdir(sys_get_temp_dir() . '/accepted-' . hash('sha256', $id));
}

$body = file_get_contents('php://input');
if (!is_signed($body)) {
    http_response_code(401);
    exit;
}
respond_now(200);
if (is_new($_SERVER['HTTP_WEBHOOK_ID'])) {
    handle_event(json_decode($body, true));
}
