/**
 * How processes of ours hand over work to each other. They may have libraries that must not meet in
 * one process, so this has none.
 */
@NullMarked
package io.afterbay.handover;

import org.jspecify.annotations.NullMarked;
