package io.afterbay.workloads.profiles;

import io.afterbay.workloads.run.AnswerFileSink;

/** Titles, and who counts them. */
record TitleRows(ProfilesOptions options) implements AnswerFileSink.Rows<StandardTitle> {
    static AnswerFileSink<StandardTitle> sink(ProfilesOptions options) {
        return new AnswerFileSink<>(options.output(), StandardTitle.HEADER, new TitleRows(options));
    }

    @Override
    public AnswerFileSink.Observer<StandardTitle> observer() {
        ProfilesStatistics statistics = ProfilesStatistics.of(options.run());
        return new AnswerFileSink.Observer<>() {
            @Override
            public void row(StandardTitle title) {
                statistics.row(title, options.number(title.changedMicros()));
            }

            @Override
            public void end() {
                statistics.end();
            }
        };
    }

    @Override
    public String csv(StandardTitle title) {
        return title.csv();
    }
}
