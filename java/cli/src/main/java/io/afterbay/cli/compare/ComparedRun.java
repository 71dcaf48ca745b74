package io.afterbay.cli.compare;

import io.afterbay.cli.measure.Target;

/** All that a worker of a comparison is to do. */
record ComparedRun(Assignment assignment, Target target) {}
