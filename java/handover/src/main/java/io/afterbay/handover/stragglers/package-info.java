/** What a trial of the techniques against stragglers is, whatever engine it runs on. */
@NullMarked
package io.afterbay.handover.stragglers;

import org.jspecify.annotations.NullMarked;
