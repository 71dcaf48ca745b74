package io.afterbay.cli.run;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.afterbay.cli.job.JarProgram;
import io.afterbay.cli.job.Job;
import io.afterbay.cli.job.NexmarkRun;
import io.afterbay.cli.job.ProfilesRun;
import io.afterbay.cli.job.RunRules;
import io.afterbay.cli.job.SqlProgram;
import io.afterbay.cli.job.TrafficJamRun;
import io.afterbay.workloads.nexmark.NexmarkOptions;
import io.afterbay.workloads.profiles.ProfilesOptions;
import io.afterbay.workloads.trafficjam.TrafficJamOptions;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What is run, as the command tells its worker. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "job")
@JsonSubTypes({
    @JsonSubTypes.Type(value = JobPlan.Nexmark.class, name = "nexmark"),
    @JsonSubTypes.Type(value = JobPlan.Profiles.class, name = "profiles"),
    @JsonSubTypes.Type(value = JobPlan.TrafficJam.class, name = "traffic-jam"),
    @JsonSubTypes.Type(value = JobPlan.Jar.class, name = "jar"),
    @JsonSubTypes.Type(value = JobPlan.Sql.class, name = "sql")
})
public interface JobPlan {
    /** To be made in the worker only. */
    Job job();

    record Nexmark(NexmarkOptions options, boolean verifies) implements JobPlan {
        @Override
        public Job job() {
            return new NexmarkRun(options, verifies);
        }
    }

    record Profiles(ProfilesOptions options, boolean verifies) implements JobPlan {
        @Override
        public Job job() {
            return new ProfilesRun(options, verifies);
        }
    }

    record TrafficJam(TrafficJamOptions options) implements JobPlan {
        @Override
        public Job job() {
            return new TrafficJamRun(options);
        }
    }

    record Jar(String file, String mainClass, List<String> arguments, RunRules rules)
            implements JobPlan {
        @Override
        public Job job() {
            return new JarProgram(Path.of(file), mainClass, arguments, rules);
        }
    }

    /**
     * @param output for the rows of the SELECT, or null to show the first ones
     */
    record Sql(String file, @Nullable String output, RunRules rules) implements JobPlan {
        @Override
        public Job job() {
            return new SqlProgram(Path.of(file), output, System.out, rules);
        }
    }
}
