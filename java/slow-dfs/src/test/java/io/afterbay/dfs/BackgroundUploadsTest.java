package io.afterbay.dfs;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Await;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BackgroundUploadsTest {
    @Test
    void aCommitWaitsForTheUploadsOfTheBatchBefore() throws Exception {
        BackgroundUploads uploads = new BackgroundUploads();
        CountDownLatch uploaded = new CountDownLatch(1);
        uploads.add(
                () -> {
                    try {
                        uploaded.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                });
        uploads.commit();
        CompletableFuture<Void> next = CompletableFuture.runAsync(uploads::commit);
        Thread.sleep(50);
        assertThat(next).isNotDone();
        uploaded.countDown();
        next.get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
        uploads.commit();
    }
}
