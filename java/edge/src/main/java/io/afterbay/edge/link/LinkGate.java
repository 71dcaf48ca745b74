package io.afterbay.edge.link;

/** Whether a link is up. For any number of threads. */
final class LinkGate {
    private boolean shut;

    synchronized void shut() {
        shut = true;
    }

    synchronized void open() {
        shut = false;
        notifyAll();
    }

    /** Returns when the link is up. */
    synchronized void await() throws InterruptedException {
        while (shut) {
            wait();
        }
    }
}
