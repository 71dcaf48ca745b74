package io.afterbay.flink.contract;

import static net.bytebuddy.matcher.ElementMatchers.isAbstract;
import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.namedOneOf;
import static net.bytebuddy.matcher.ElementMatchers.not;
import static net.bytebuddy.matcher.ElementMatchers.takesNoArguments;

import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import net.bytebuddy.agent.ByteBuddyAgent;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.agent.builder.AgentBuilder.RedefinitionStrategy;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.matcher.ElementMatcher.Junction;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;

/**
 * Changes Flink classes while they are loaded, in tests only.
 *
 * <p>Flink's operator test harness names {@link HashMapStateBackend} in its constructor, and the
 * tests that use it offer no way to say otherwise: its {@code createStreamTaskStateManager} is
 * handed the backend under test instead. And every {@code createKeyedStateBackend} of the backend
 * under test is counted, so that a test can assert that what ran was ours. The sizes of its event
 * time window case, which takes half a minute per test, can be divided.
 */
public final class Instrumentation {
    private static final String HARNESS =
            "org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness";

    // Advice is inlined into other classes: what it touches must be public.
    public static final AtomicInteger CREATED = new AtomicInteger();
    public static volatile boolean substitute;
    public static volatile int windowCaseDivisor = 1;

    private static final String KEYED_HARNESS =
            "org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness";
    private static final String TTL_SUITE = "org.apache.flink.runtime.state.ttl.TtlStateTestBase";
    private static final String WINDOW_CASE =
            "org.apache.flink.test.checkpointing.EventTimeWindowCheckpointingITCase";

    private static boolean installed;

    private Instrumentation() {}

    /** Idempotent. */
    public static synchronized void install() {
        if (installed) {
            return;
        }
        ByteBuddyAgent.install();
        advise(HARNESS, named("createStreamTaskStateManager"), Substitute.class);
        advise(
                KEYED_HARNESS,
                named("numKeyedStateEntries").and(takesNoArguments()),
                CountEntries.class);
        advise(TTL_SUITE, named("isOriginalCleared"), AskOurState.class);
        advise(
                WINDOW_CASE,
                namedOneOf("numElementsPerKey", "windowSize", "windowSlide"),
                Shrink.class);
        advise(BackendUnderTest.TYPE.getName(), named("createKeyedStateBackend"), Count.class);
        installed = true;
    }

    /** How many keyed backends the backend under test has created since the JVM started. */
    public static int created() {
        install();
        return CREATED.get();
    }

    /** Runs {@code body} with the harness on the backend under test. */
    public static <T> T withHarnessOnOurs(Callable<T> body) throws Exception {
        install();
        substitute = true;
        try {
            return body.call();
        } finally {
            substitute = false;
        }
    }

    /** Runs {@code body} with the sizes of Flink's event time window case divided. */
    public static <T> T withWindowCaseDividedBy(int divisor, Callable<T> body) throws Exception {
        install();
        windowCaseDivisor = divisor;
        try {
            return body.call();
        } finally {
            windowCaseDivisor = 1;
        }
    }

    private static void advise(String type, Junction<MethodDescription> methods, Class<?> advice) {
        new AgentBuilder.Default()
                .disableClassFormatChanges()
                .with(RedefinitionStrategy.RETRANSFORMATION)
                .with(new AgentBuilder.Listener.WithErrorsOnly(new FailLoudly()))
                .type(named(type))
                .transform(
                        (builder, description, loader, module, domain) ->
                                builder.visit(Advice.to(advice).on(methods.and(not(isAbstract())))))
                .installOnByteBuddyAgent();
    }

    /** Called from inside the harness. */
    public static StateBackend instead(StateBackend named) {
        boolean harnessDefault = named instanceof HashMapStateBackend;
        return substitute && harnessDefault ? BackendUnderTest.create() : named;
    }

    /** Inlined at the start of the harness's method. */
    public static final class Substitute {
        private Substitute() {}

        @Advice.OnMethodEnter
        public static void enter(
                @Advice.Argument(value = 1, readOnly = false) StateBackend backend) {
            backend = Instrumentation.instead(backend);
        }
    }

    /** Inlined around a method that knows only HashMap's backend; ours knows the number as well. */
    public static final class CountEntries {
        private CountEntries() {}

        @Advice.OnMethodEnter(skipOn = Advice.OnNonDefaultValue.class)
        public static Integer enter(@Advice.This Object harness) {
            return RawStates.entries(harness);
        }

        @Advice.OnMethodExit
        public static void exit(
                @Advice.Enter Integer ours, @Advice.Return(readOnly = false) int entries) {
            entries = ours == null ? entries : ours;
        }
    }

    /** Inlined around a method that looks into HashMap's table; ours is asked for the raw value. */
    public static final class AskOurState {
        private AskOurState() {}

        @Advice.OnMethodEnter(skipOn = Advice.OnNonDefaultValue.class)
        public static Boolean enter(@Advice.This Object suite) {
            return RawStates.originalCleared(suite);
        }

        @Advice.OnMethodExit
        public static void exit(
                @Advice.Enter Boolean ours, @Advice.Return(readOnly = false) boolean cleared) {
            cleared = ours == null ? cleared : ours;
        }
    }

    /** Inlined at the end of the window case's methods that return a size. */
    public static final class Shrink {
        private Shrink() {}

        @Advice.OnMethodExit
        public static void exit(@Advice.Return(readOnly = false) int size) {
            size = size / Instrumentation.windowCaseDivisor;
        }
    }

    /** Inlined at the end of {@code createKeyedStateBackend}; not reached when it throws. */
    public static final class Count {
        private Count() {}

        @Advice.OnMethodExit
        public static void exit() {
            Instrumentation.CREATED.incrementAndGet();
        }
    }

    private static final class FailLoudly extends AgentBuilder.Listener.Adapter {
        @Override
        public void onError(
                String type,
                ClassLoader loader,
                net.bytebuddy.utility.JavaModule module,
                boolean loaded,
                Throwable error) {
            throw new AssertionError("cannot instrument " + type, error);
        }
    }
}
