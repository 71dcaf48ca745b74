package io.afterbay.command;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** Whether somebody is looking. */
public final class Terminal {
    private Terminal() {}

    /** Whether standard error is a terminal; Java 17 cannot tell, so the shell's test is asked. */
    public static boolean isStandardError() {
        try {
            Process test =
                    new ProcessBuilder("test", "-t", "2")
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .start();
            return test.waitFor(5, TimeUnit.SECONDS) && test.exitValue() == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
