package io.afterbay.edge.it;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;

/** Random expressions over the columns of {@link Reports}, of the functions that run at a site. */
final class Expressions {
    private static final int DEPTH_MAX = 3;

    private Expressions() {}

    /** Of any type. */
    static Arbitrary<String> any() {
        return Arbitraries.oneOf(
                integer(DEPTH_MAX),
                real(DEPTH_MAX),
                text(DEPTH_MAX),
                truth(DEPTH_MAX),
                price(2),
                time(2));
    }

    /** INT or BIGINT. Nothing divides by what may be zero, which ends a job. */
    static Arbitrary<String> integer(int depth) {
        Arbitrary<String> leaf =
                Arbitraries.of("n", "big", "room", "storey", "7", "-3", "2147483647", "0");
        if (depth == 0) {
            return leaf;
        }
        Arbitrary<String> part = Arbitraries.lazy(() -> integer(depth - 1));
        return Arbitraries.oneOf(
                leaf,
                binary(part, Arbitraries.of("+", "-", "*")),
                part.map(i -> "(" + i + " / 7)"),
                part.map(i -> "MOD(" + i + ", 5)"),
                part.map(i -> "ABS(" + i + ")"),
                part.map(i -> "(- " + i + ")"),
                part.map(i -> "CAST(" + i + " AS BIGINT)"),
                part.map(i -> "CAST(" + i + " AS INT)"),
                part.map(i -> "CAST(" + i + " AS SMALLINT)"),
                Arbitraries.lazy(() -> text(depth - 1)).map(t -> "CHAR_LENGTH(" + t + ")"),
                Arbitraries.lazy(() -> text(depth - 1)).map(t -> "TRY_CAST(" + t + " AS INT)"),
                Arbitraries.lazy(() -> real(depth - 1)).map(r -> "CAST(" + r + " AS BIGINT)"),
                Combinators.combine(
                                Arbitraries.of("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"),
                                Arbitraries.lazy(() -> time(depth - 1)))
                        .as((unit, t) -> "EXTRACT(" + unit + " FROM " + t + ")"),
                choice(part, depth),
                coalesce(part));
    }

    /** DOUBLE. */
    static Arbitrary<String> real(int depth) {
        Arbitrary<String> leaf = Arbitraries.of("x", "1.5E0", "-0.0E0", "1E300");
        if (depth == 0) {
            return leaf;
        }
        Arbitrary<String> part = Arbitraries.lazy(() -> real(depth - 1));
        return Arbitraries.oneOf(
                leaf,
                binary(part, Arbitraries.of("+", "-", "*", "/")),
                Combinators.combine(part, Arbitraries.lazy(() -> integer(depth - 1)))
                        .as((r, i) -> "(" + r + " * " + i + ")"),
                part.map(r -> "ABS(" + r + ")"),
                part.map(r -> "(- " + r + ")"),
                part.map(r -> "FLOOR(" + r + ")"),
                part.map(r -> "CEIL(" + r + ")"),
                Arbitraries.lazy(() -> integer(depth - 1)).map(i -> "CAST(" + i + " AS DOUBLE)"),
                choice(part, depth),
                coalesce(part));
    }

    /** DECIMAL, or DOUBLE of one. */
    static Arbitrary<String> price(int depth) {
        Arbitrary<String> leaf = Arbitraries.of("price", "12.50", "CAST(n AS DECIMAL(12, 1))");
        if (depth == 0) {
            return leaf;
        }
        Arbitrary<String> part = Arbitraries.lazy(() -> price(depth - 1));
        return Arbitraries.oneOf(
                leaf,
                binary(leaf, Arbitraries.of("+", "-", "*")),
                leaf.map(p -> "CAST(" + p + " AS DECIMAL(20, 3))"),
                part.map(p -> "CAST(" + p + " AS DOUBLE)"),
                leaf.map(p -> "ABS(" + p + ")"),
                leaf.map(p -> "(- " + p + ")"),
                Combinators.combine(truth(0), leaf)
                        .as((c, p) -> "CASE WHEN " + c + " THEN " + p + " END"));
    }

    /** STRING. */
    static Arbitrary<String> text(int depth) {
        Arbitrary<String> leaf = Arbitraries.of("name", "'a'", "'Äb'", "''", "'12'");
        if (depth == 0) {
            return leaf;
        }
        Arbitrary<String> part = Arbitraries.lazy(() -> text(depth - 1));
        return Arbitraries.oneOf(
                leaf,
                part.map(t -> "UPPER(" + t + ")"),
                part.map(t -> "LOWER(" + t + ")"),
                part.map(t -> "TRIM(" + t + ")"),
                part.map(t -> "LTRIM(" + t + ")"),
                part.map(t -> "RTRIM(" + t + ")"),
                Combinators.combine(part, Arbitraries.of("a", "b_", "日"))
                        .as((t, of) -> "REPLACE(" + t + ", '" + of + "', 'aa')"),
                Combinators.combine(part, part).as((a, b) -> "CONCAT(" + a + ", " + b + ")"),
                Combinators.combine(part, Arbitraries.integers().between(1, 4))
                        .as((t, from) -> "SUBSTRING(" + t + ", " + from + ", 2)"),
                binary(part, Arbitraries.of("||")),
                Arbitraries.of("n", "big", "room").map(i -> "CAST(" + i + " AS STRING)"),
                choice(part, depth),
                coalesce(part));
    }

    /** TIMESTAMP(3), of any year that Flink's calendar has. */
    static Arbitrary<String> time(int depth) {
        Arbitrary<String> leaf =
                Arbitraries.of(
                        "CAST(ts AS TIMESTAMP(3))",
                        "moment",
                        "TIMESTAMP '1969-12-31 23:59:59.999'",
                        "TIMESTAMP '2026-01-01 00:01:00.000'");
        if (depth == 0) {
            return leaf;
        }
        Arbitrary<String> part = Arbitraries.lazy(() -> time(depth - 1));
        return Arbitraries.oneOf(
                leaf,
                Combinators.combine(part, Arbitraries.of("SECOND", "MINUTE", "HOUR", "DAY"))
                        .as((t, unit) -> "FLOOR(" + t + " TO " + unit + ")"),
                Combinators.combine(truth(0), part, part)
                        .as((c, a, b) -> "CASE WHEN " + c + " THEN " + a + " ELSE " + b + " END"),
                coalesce(part));
    }

    /** BOOLEAN, of three values. */
    static Arbitrary<String> truth(int depth) {
        Arbitrary<String> leaf = Arbitraries.of("ok", "ok IS NULL", "n > 0", "x < 100E0");
        if (depth == 0) {
            return leaf.map(t -> "(" + t + ")");
        }
        Arbitrary<String> part = Arbitraries.lazy(() -> truth(depth - 1));
        Arbitrary<String> comparison = Arbitraries.of("=", "<>", "<", "<=", ">", ">=");
        return Arbitraries.oneOf(
                leaf.map(t -> "(" + t + ")"),
                binary(Arbitraries.lazy(() -> integer(depth - 1)), comparison),
                binary(Arbitraries.lazy(() -> real(depth - 1)), comparison),
                binary(Arbitraries.lazy(() -> text(depth - 1)), comparison),
                binary(Arbitraries.lazy(() -> price(0)), comparison),
                binary(Arbitraries.lazy(() -> time(depth - 1)), comparison),
                binary(part, Arbitraries.of("AND", "OR")),
                part.map(t -> "(NOT " + t + ")"),
                Combinators.combine(
                                part,
                                Arbitraries.of(
                                        "IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE"))
                        .as((t, is) -> "(" + t + " " + is + ")"),
                Arbitraries.of("n", "big", "x", "name", "room").map(c -> "(" + c + " IS NOT NULL)"),
                Arbitraries.of("a%", "%b%", "_", "%", "Ab").map(p -> "(name LIKE '" + p + "')"),
                Arbitraries.lazy(() -> integer(depth - 1)).map(i -> "(" + i + " IN (1, 3, 5))"),
                Arbitraries.lazy(() -> integer(depth - 1))
                        .map(i -> "(" + i + " BETWEEN -10 AND 20)"));
    }

    private static Arbitrary<String> binary(Arbitrary<String> part, Arbitrary<String> operator) {
        return Combinators.combine(part, operator, part)
                .as((left, op, right) -> "(" + left + " " + op + " " + right + ")");
    }

    private static Arbitrary<String> choice(Arbitrary<String> part, int depth) {
        return Combinators.combine(Arbitraries.lazy(() -> truth(depth - 1)), part, part)
                .as((c, a, b) -> "CASE WHEN " + c + " THEN " + a + " ELSE " + b + " END");
    }

    private static Arbitrary<String> coalesce(Arbitrary<String> part) {
        return Combinators.combine(part, part).as((a, b) -> "COALESCE(" + a + ", " + b + ")");
    }
}
