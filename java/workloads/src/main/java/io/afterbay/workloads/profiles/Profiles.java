package io.afterbay.workloads.profiles;

import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Builds the job. */
public final class Profiles {
    private Profiles() {}

    /** Adds the whole job to an environment; the environment decides on backend and parallelism. */
    public static void build(StreamExecutionEnvironment env, ProfilesOptions options) {
        env.setRuntimeMode(RuntimeExecutionMode.STREAMING);
        env.configure(settings());
        standardize(
                        env.fromSource(
                                        new ProfileSource(options),
                                        watermarks(),
                                        "profiles",
                                        TypeInformation.of(Profile.class))
                                .setParallelism(1)
                                .uid("profiles"),
                        options.dictionary())
                .sinkTo(TitleRows.sink(options))
                .name("titles")
                .uid("titles")
                .setParallelism(1);
    }

    /** The times of profiles, which come in order. */
    public static WatermarkStrategy<Profile> watermarks() {
        return WatermarkStrategy.<Profile>forMonotonousTimestamps()
                .withTimestampAssigner((profile, ignored) -> ProfilesOptions.timeMillis(profile));
    }

    /** The part that does not depend on where profiles come from, and where titles go. */
    public static SingleOutputStreamOperator<StandardTitle> standardize(
            DataStream<Profile> profiles, int dictionary) {
        return profiles.keyBy(Profile::member, Types.LONG)
                .process(new NewestProfile(), TypeInformation.of(Profile.class))
                .name("newest")
                .uid("newest")
                .map(new Standardize(dictionary), TypeInformation.of(StandardTitle.class))
                .name("standardize")
                .uid("standardize");
    }

    /** All records are immutable, and have serializers. */
    public static Configuration settings() {
        Configuration settings = new Configuration();
        settings.set(PipelineOptions.GENERIC_TYPES, false);
        settings.set(PipelineOptions.OBJECT_REUSE, true);
        return settings;
    }
}
