<?php
// A webhook receiver (part C of docs/specification.md): returns customer data for the agent who accepts a chat.
//
//     SIGNING_SECRET=whsec_... php -S 127.0.0.1:8003 webhook.php

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

/** Replace this function: look up the visitor. If an event is repeated, return the same response again. */
function customer_data(array $event): array
{
    if ($event['event_name'] !== 'chat_accepted') {
        return [];
    }
    $content = "No. {$event['visitor']['number']}, 3 orders";
    return ['custom_data' => [['title' => 'Customer', 'content' => $content, 'link' => 'https://crm.example']]];
}

function respond(int $status, array $body): void
{
    http_response_code($status);
    header('Content-Type: application/json');
    echo json_encode($body);
}

$body = file_get_contents('php://input');
if (!is_signed($body)) {
    respond(401, ['result' => 'FAILURE']);
    exit;
}
$event = json_decode($body, true);
if (!is_array($event)) {
    respond(400, ['result' => 'FAILURE']);
    exit;
}
try {
    file_put_contents('php://stdout', "{$event['event_name']} " . ($event['chat_id'] ?? '') . "\n");
    respond(200, ['result' => 'OK'] + customer_data($event));
} catch (Throwable $error) {
    // Any status but 2xx makes the service send the event again, three times in all. Without this, PHP may show the
    // error with status 200.
    error_log((string) $error);
    respond(500, ['result' => 'FAILURE']);
}
