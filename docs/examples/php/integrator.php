<?php
// An integrator's server (specification, A-3): receives what agents and bots write to your visitors.
//
//     SIGNING_SECRET=whsec_... php -S 127.0.0.1:8001 integrator.php

/** Whether the request is signed with our secret, and not older than five minutes (www.standardwebhooks.com). */
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

/** Here you pass the message on to your visitor. A request may come again: keep its webhook-id in your database. */
function show(array $event): void
{
    $message = $event['message'];
    if (in_array($message['type'], ['typein', 'typeout'])) {
        return;
    }
    $what = $message['text'] ?? $message['file'] ?? $message['type'];
    file_put_contents('php://stdout', "{$event['sender']['name']} to {$event['recipient']['id']}: $what\n");
}

function answer(int $status, array $body): void
{
    http_response_code($status);
    header('Content-Type: application/json');
    echo json_encode($body);
}

$body = file_get_contents('php://input');
if (!is_signed($body)) {
    answer(401, ['error' => ['code' => 401, 'message' => 'wrong signature']]);
} else {
    show(json_decode($body, true));
    answer(200, ['result' => 'ok']);
}
