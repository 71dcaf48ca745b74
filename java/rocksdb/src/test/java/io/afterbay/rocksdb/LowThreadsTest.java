package io.afterbay.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LowThreadsTest {
    private static final class Pool implements BackgroundThreads {
        int count;
        int sets;

        Pool(int count) {
            this.count = count;
        }

        @Override
        public int count() {
            return count;
        }

        @Override
        public void setCount(int threads) {
            count = threads;
            sets++;
        }

        @Override
        public int queued() {
            return 0;
        }
    }

    private final Pool pool = new Pool(4);
    private final LowThreads low = new LowThreads(pool);

    @Test
    void holdsAndGivesBack() {
        low.apply(true, 0);
        assertThat(pool.count).isZero();
        low.apply(false, 0);
        assertThat(pool.count).isEqualTo(4);
        assertThat(low.reassertions()).isZero();
    }

    @Test
    void touchesNothingWithoutReason() {
        low.apply(false, 0);
        pool.count = 0; // another gate's
        low.apply(false, 0);
        low.close();
        assertThat(pool.count).isZero();
        assertThat(pool.sets).isZero();
    }

    @Test
    void takesAnotherNumberWhileItIsNotHeld() {
        low.apply(true, 0);
        low.apply(false, 0);
        pool.count = 2;
        low.apply(true, 0);
        low.apply(false, 0);
        assertThat(pool.count).isEqualTo(2);
    }

    @Test
    void closesAgainAndGivesBackTheLargest() {
        low.apply(true, 0);
        pool.count = 6;
        low.apply(true, 0);
        assertThat(pool.count).isZero();
        pool.count = 1;
        low.apply(true, 0);
        assertThat(pool.count).isZero();
        assertThat(low.reassertions()).isEqualTo(2);
        low.apply(false, 0);
        assertThat(pool.count).isEqualTo(6);
    }

    @Test
    void neverGivesBackNone() {
        pool.count = 0; // another gate's
        low.apply(true, 0);
        low.apply(false, 0);
        assertThat(pool.count).isEqualTo(1);
    }

    @Test
    void limits() {
        low.apply(false, 2);
        assertThat(pool.count).isEqualTo(2);
        pool.count = 8;
        low.apply(false, 2);
        assertThat(pool.count).isEqualTo(2);
        low.apply(true, 2);
        assertThat(pool.count).isZero();
        low.apply(false, 2);
        assertThat(pool.count).isEqualTo(2);
        low.close();
        assertThat(pool.count).isEqualTo(8);
    }

    @Test
    void doesNothingAfterClose() {
        low.apply(true, 0);
        low.close();
        low.apply(true, 0);
        assertThat(pool.count).isEqualTo(4);
    }

    @Test
    void isForcedOpenOnlyWhereItIsClosed() {
        low.forceOpen();
        assertThat(pool.sets).isZero();
        low.apply(true, 0);
        low.forceOpen();
        assertThat(pool.count).isEqualTo(4);
    }
}
