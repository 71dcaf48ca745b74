package io.afterbay.spark.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Await;
import org.junit.jupiter.api.Test;

class RoomTest {
    private final Room room = new Room(3, 100);

    private boolean take(long size) throws InterruptedException {
        Room.Request request = room.ask(size);
        boolean isGranted = request.awaitRoom(0);
        request.withdraw();
        return isGranted;
    }

    @Test
    void boundsFilesAndBytes() throws Exception {
        assertThat(take(10)).isTrue();
        assertThat(take(91)).isFalse();
        assertThat(take(10)).isTrue();
        assertThat(take(10)).isTrue();
        assertThat(take(1)).isFalse();
        room.give(2, 20);
        assertThat(take(90)).isTrue();
        assertThat(take(1)).isFalse();
    }

    @Test
    void aLargeFileIsAlone() throws Exception {
        assertThat(take(1_000)).isTrue();
        assertThat(take(1)).isFalse();
        room.give(1, 1_000);
        assertThat(take(1)).isTrue();
        assertThat(take(1_000)).isFalse();
    }

    @Test
    void smallFilesDoNotPassALargeOneThatWaits() throws Exception {
        assertThat(take(50)).isTrue();
        Room.Request large = room.ask(80);
        assertThat(large.awaitRoom(0)).isFalse();
        assertThat(take(10)).isFalse();
        room.give(1, 50);
        assertThat(large.awaitRoom(0)).isTrue();
        assertThat(take(10)).isTrue();
    }

    @Test
    void whoeverGivesUpIsPassed() throws Exception {
        assertThat(take(50)).isTrue();
        Room.Request large = room.ask(80);
        Room.Request small = room.ask(10);
        assertThat(small.awaitRoom(0)).isFalse();
        large.withdraw();
        large.withdraw();
        assertThat(small.awaitRoom(0)).isTrue();
    }

    @Test
    void whoeverWaitsIsWoken() throws Exception {
        assertThat(take(100)).isTrue();
        Room.Request waiter = room.ask(10);
        Thread giver = new Thread(() -> room.give(1, 100));
        giver.start();
        assertThat(waiter.awaitRoom(Await.DEADLINE.toNanos())).isTrue();
        giver.join();
    }
}
