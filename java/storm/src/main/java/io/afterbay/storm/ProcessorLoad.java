package io.afterbay.storm;

import java.io.Serializable;

/** How busy the processors are. Safe for use by any thread. */
interface ProcessorLoad extends Serializable {
    /** The share of their time lately, from 0 to 1; NaN if it is not known. */
    double share();
}
