/** Scripts of Flink SQL: their statements, and what is wrong with one of them. */
@NullMarked
package io.afterbay.command.flink.sql;

import org.jspecify.annotations.NullMarked;
