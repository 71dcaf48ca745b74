package io.afterbay.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** A test, or a class of them, that only {@code ./afterbay test --long} runs. */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@EnabledIfSystemProperty(
        named = TestForm.PROPERTY,
        matches = "true",
        disabledReason = "in the long form only: ./afterbay test --long")
public @interface LongForm {}
