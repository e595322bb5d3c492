<?php
// An integrator's server (A-3 in docs/specification.md): receives the messages of agents and bots to your visitors.
//
//     SIGNING_SECRET=whsec_... php -S 127.0.0.1:8001 integrator.php

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

/** Replace this function: forward the message to the visitor. */
function forward_to_visitor(array $event): void
{
    $message = $event['message'];
    if (in_array($message['type'], ['typein', 'typeout'])) {
        return;
    }
    $text = $message['text'] ?? $message['file'] ?? $message['type'];
    file_put_contents('php://stdout', "{$event['sender']['name']} to {$event['recipient']['id']}: $text\n");
}

/** Forwards a message, unless it was forwarded before. In production, store the ids in your database. */
function forward_once(array $event, string $id): void
{
    $marker = sys_get_temp_dir() . '/forwarded-' . hash('sha256', $id);
    if (file_exists($marker)) {
        return;
    }
    forward_to_visitor($event);
    // Only now: an id that is stored before the message was forwarded loses the message if forwarding fails.
    touch($marker);
}

function respond(int $status, array $body): void
{
    http_response_code($status);
    header('Content-Type: application/json');
    echo json_encode($body);
}

$body = file_get_contents('php://input');
if (!is_signed($body)) {
    respond(401, ['error' => ['code' => 401, 'message' => 'wrong signature']]);
    exit;
}
$event = json_decode($body, true);
if (!is_array($event)) {
    respond(400, ['error' => ['code' => 400, 'message' => 'the body is not JSON']]);
    exit;
}
try {
    forward_once($event, $_SERVER['HTTP_WEBHOOK_ID']);
    respond(200, ['result' => 'ok']);
} catch (Throwable $error) {
    // Any status but 200 makes the service send the message again, three times in all. Without this, PHP may show the
    // error with status 200.
    error_log((string) $error);
    respond(500, ['error' => ['code' => 500, 'message' => 'the message was not forwarded']]);
}
