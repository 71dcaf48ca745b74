package io.afterbay.command.flink.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

class ScriptTest {
    private static final Predicate<Statement> ALWAYS = statement -> true;

    private static List<Statement> split(String text, Predicate<Statement> complete) {
        Script script = new Script(text);
        List<Statement> statements = new ArrayList<>();
        for (Statement next = script.next(complete); next != null; next = script.next(complete)) {
            statements.add(next);
        }
        return statements;
    }

    private static List<String> texts(String text) {
        return split(text, ALWAYS).stream().map(statement -> statement.text().strip()).toList();
    }

    @Test
    void semicolonsInStringsNamesAndCommentsEndNothing() {
        assertThat(texts("SELECT ';', 'it''s;', `a;b`; SELECT 2 -- no; comment\n;"))
                .containsExactly("SELECT ';', 'it''s;', `a;b`;", "SELECT 2 -- no; comment\n;");
        assertThat(texts("SELECT /* one; two */ 1; SELECT /*+ OPTIONS('a'=';') */ 2;"))
                .containsExactly("SELECT /* one; two */ 1;", "SELECT /*+ OPTIONS('a'=';') */ 2;");
        assertThat(texts("SELECT '--', '/*'; SELECT 3 - -1;"))
                .containsExactly("SELECT '--', '/*';", "SELECT 3 - -1;");
    }

    @Test
    void whatHoldsNoCodeIsNoStatement() {
        assertThat(texts("")).isEmpty();
        assertThat(texts("-- only a comment;\n /* another; */ ; ;\n")).isEmpty();
        assertThat(texts("A;\n-- the end")).containsExactly("A;");
        assertThat(texts("A; B")).containsExactly("A;", "B");
        assertThat(texts("A; SELECT 'open; B;")).containsExactly("A;", "SELECT 'open; B;");
    }

    @Test
    void onlyTheParserKnowsWhetherAStatementGoesOn() {
        List<Statement> statements =
                split(
                        "BEGIN a; b; END; C;",
                        statement ->
                                !statement.text().contains("b; ")
                                        ? statement.text().startsWith("C")
                                        : true);
        assertThat(statements)
                .extracting(Statement::text)
                .containsExactly("BEGIN a; b; END;", "C;");
    }

    @Test
    void linesAreThoseOfTheScript() {
        List<Statement> statements = split("\n-- x\nA\n\n;B;\n\n  C;", ALWAYS);
        assertThat(statements).extracting(Statement::line).containsExactly(3, 5, 7);
        assertThat(statements).extracting(Statement::number).containsExactly(1, 2, 3);
        assertThat(statements)
                .allSatisfy(
                        statement ->
                                assertThat(statement.text())
                                        .startsWith("\n".repeat(statement.line() - 1))
                                        .doesNotStartWith("\n".repeat(statement.line())));
    }
}
