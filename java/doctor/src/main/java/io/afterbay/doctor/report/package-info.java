/** A diagnosis for people on a terminal, in a browser, and for programs. */
@NullMarked
package io.afterbay.doctor.report;

import org.jspecify.annotations.NullMarked;
