package com.example.sessions;

/** The arguments of the job: {@code --events N --visitors N --gap-ms N --seed N --print}. */
record Options(long events, long visitors, long gapMillis, long seed, boolean print) {
    private static final Options DEFAULTS = new Options(2_000_000, 50_000, 30_000, 1, false);

    static Options of(String[] args) {
        Options options = DEFAULTS;
        for (int i = 0; i < args.length; i++) {
            options = args[i].equals("--print") ? options.printing() : options.with(args, i++);
        }
        return options;
    }

    private Options printing() {
        return new Options(events, visitors, gapMillis, seed, true);
    }

    private Options with(String[] args, int i) {
        return switch (args[i]) {
            case "--events" -> new Options(number(args, i), visitors, gapMillis, seed, print);
            case "--visitors" -> new Options(events, number(args, i), gapMillis, seed, print);
            case "--gap-ms" -> new Options(events, visitors, number(args, i), seed, print);
            case "--seed" -> new Options(events, visitors, gapMillis, number(args, i), print);
            default -> throw new IllegalArgumentException(args[i] + " is no option of this job");
        };
    }

    private static long number(String[] args, int i) {
        if (i + 1 == args.length || !args[i + 1].matches("[1-9][0-9]{0,17}")) {
            throw new IllegalArgumentException(args[i] + " needs a number from 1");
        }
        return Long.parseLong(args[i + 1]);
    }
}
