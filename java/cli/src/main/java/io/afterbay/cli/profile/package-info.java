/** What the threads of an embedded engine's tasks do with their CPU time. */
@NullMarked
package io.afterbay.cli.profile;

import org.jspecify.annotations.NullMarked;
