/** The NEXMark stream as tables of Flink SQL: {@code 'connector' = 'nexmark'}. */
@NullMarked
package io.afterbay.workloads.nexmark.sql;

import org.jspecify.annotations.NullMarked;
