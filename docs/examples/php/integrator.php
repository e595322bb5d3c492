<?php
// An integrator's server (specification, A-3): receives the messages of agents and bots to your visitors.
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

/**
 * Replace this function: forward the message to the visitor. The service may repeat a request. In
 * production, store the webhook-id of processed requests in your database.
 */
function forward_to_visitor(array $event): void
{
    $message = $event['message'];
    if (in_array($message['type'], ['typein', 'typeout'])) {
        return;
    }
    $text = $message['text'] ?? $message['file'] ?? $message['type'];
    file_put_contents('php://stdout', "{$event['sender']['name']} to {$event['recipient']['id']}: $text\n");
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
} else {
    forward_to_visitor(json_decode($body, true));
    respond(200, ['result' => 'ok']);
}
