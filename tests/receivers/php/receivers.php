<?php

// The PHP of docs/webhooks.md, by hand, against the vectors, and against what a real service sent.

require __DIR__ . '/extracted/by_hand.php';

$failed = 0;
foreach (explode(':', getenv('VECTORS') . ':' . getenv('RECEIVED')) as $path) {
    foreach (json_decode(file_get_contents($path), true)['vectors'] as $vector) {
        $said = is_genuine($vector['body'], $vector['headers'], $vector['secret']);
        if ($said !== ($vector['expected']['service'] === 'valid')) {
            echo "wrong: {$vector['name']}\n";
            $failed = 1;
        }
    }
}
exit($failed);
