/** What commands have in common that have Flink in their process. */
@NullMarked
package io.afterbay.command.flink;

import org.jspecify.annotations.NullMarked;
