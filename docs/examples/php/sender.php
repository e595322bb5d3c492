<?php
// Sends a visitor's messages to a channel (A-2 in docs/specification.md): one message for each line of the input.
//
//     CHANNEL_URL=https://.../channel/<secret>/<channel_id> php sender.php u-1 "Ada Lovelace"
//
// The answers arrive at integrator.php. Keep CHANNEL_URL on your server: anyone who has it can write as any visitor.

const MAX_ATTEMPTS = 6;

/** Sends a message, and repeats it until the service has accepted or rejected it. */
function send(array $sender, array $message): void
{
    // All attempts have the same key, so the service stores the message only once, even if a response was lost.
    $header = ['Content-Type: application/json', 'Idempotency-Key: ' . bin2hex(random_bytes(16))];
    $content = json_encode(['sender' => $sender, 'message' => $message]);
    for ($attempt = 0; $attempt < MAX_ATTEMPTS; $attempt++) {
        [$status, $retry_after, $response] = post($header, $content);
        if ($status === 200) {
            return;
        }
        if ($status !== 0 && $status !== 429 && $status < 500) {
            break; // a 4xx is final: the same request would be rejected again
        }
        sleep(min($retry_after ?: 2 ** $attempt, 30));
    }
    throw new RuntimeException("not sent: HTTP $status $response");
}

/** Returns the status (0 without a response), the seconds to wait before the next attempt, and the response. */
function post(array $header, string $content): array
{
    $http = ['method' => 'POST', 'header' => $header, 'content' => $content, 'timeout' => 10, 'ignore_errors' => true];
    $http_response_header = [];
    $response = @file_get_contents(getenv('CHANNEL_URL'), false, stream_context_create(['http' => $http]));
    $status = (int) (explode(' ', $http_response_header[0] ?? '')[1] ?? 0);
    $retry_after = preg_filter('/^retry-after: *(\d+)$/i', '$1', $http_response_header);
    return [$status, (int) (reset($retry_after) ?: 0), (string) $response];
}

$sender = ['id' => $argv[1]] + (isset($argv[2]) ? ['name' => $argv[2]] : []);
while (($line = fgets(STDIN)) !== false) {
    if (trim($line) === '') {
        continue;
    }
    try {
        send($sender, ['type' => 'text', 'text' => trim($line)]);
        echo 'sent: ', trim($line), "\n";
    } catch (RuntimeException $error) {
        fwrite(STDERR, $error->getMessage() . "\n");
    }
}
