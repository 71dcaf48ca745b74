/** Scripts of Flink SQL: statement by statement, as Flink's SQL client runs a file. */
@NullMarked
package io.afterbay.cli.sql;

import org.jspecify.annotations.NullMarked;
