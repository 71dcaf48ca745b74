package io.afterbay.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PoolThreadsTest {
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
    private final PoolThreads threads = new PoolThreads(pool);

    @Test
    void holdsAndGivesBack() {
        threads.apply(true, 0);
        assertThat(pool.count).isZero();
        threads.apply(false, 0);
        assertThat(pool.count).isEqualTo(4);
        assertThat(threads.reassertions()).isZero();
    }

    @Test
    void touchesNothingWithoutReason() {
        threads.apply(false, 0);
        pool.count = 0; // another gate's
        threads.apply(false, 0);
        threads.close();
        assertThat(pool.count).isZero();
        assertThat(pool.sets).isZero();
    }

    @Test
    void takesAnotherNumberWhileItIsNotHeld() {
        threads.apply(true, 0);
        threads.apply(false, 0);
        pool.count = 2;
        threads.apply(true, 0);
        threads.apply(false, 0);
        assertThat(pool.count).isEqualTo(2);
    }

    @Test
    void closesAgainAndGivesBackTheLargest() {
        threads.apply(true, 0);
        pool.count = 6;
        threads.apply(true, 0);
        assertThat(pool.count).isZero();
        pool.count = 1;
        threads.apply(true, 0);
        assertThat(pool.count).isZero();
        assertThat(threads.reassertions()).isEqualTo(2);
        threads.apply(false, 0);
        assertThat(pool.count).isEqualTo(6);
    }

    @Test
    void neverGivesBackNone() {
        pool.count = 0; // another gate's
        threads.apply(true, 0);
        threads.apply(false, 0);
        assertThat(pool.count).isEqualTo(1);
    }

    @Test
    void limits() {
        threads.apply(false, 2);
        assertThat(pool.count).isEqualTo(2);
        pool.count = 8;
        threads.apply(false, 2);
        assertThat(pool.count).isEqualTo(2);
        threads.apply(true, 2);
        assertThat(pool.count).isZero();
        threads.apply(false, 2);
        assertThat(pool.count).isEqualTo(2);
        threads.close();
        assertThat(pool.count).isEqualTo(8);
    }

    @Test
    void doesNothingAfterClose() {
        threads.apply(true, 0);
        threads.close();
        threads.apply(true, 0);
        assertThat(pool.count).isEqualTo(4);
    }

    @Test
    void isForcedOpenOnlyWhereItIsClosed() {
        threads.forceOpen();
        assertThat(pool.sets).isZero();
        threads.apply(true, 0);
        threads.forceOpen();
        assertThat(pool.count).isEqualTo(4);
    }
}
