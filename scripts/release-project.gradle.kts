// Builds the sources of examples/public-api with Gradle: scripts/check-release.sh fills in the version of Spring Boot and its starter.
plugins {
    java
    id("org.springframework.boot") version "SPRING_BOOT"
    // It applies the versions of Spring Boot strictly. A platform() would take the later ones that the starter was built with.
    id("io.spring.dependency-management") version "1.1.7"
}

java {
    sourceCompatibility = JavaVersion.VERSION_17
}

repositories {
    maven(url = uri(providers.gradleProperty("release").get()))
    mavenCentral()
}

dependencyManagement {
    imports {
        mavenBom("io.ratelimit:ratelimit-bom:" + providers.gradleProperty("ratelimitVersion").get())
    }
}

dependencies {
    implementation("io.ratelimit:ratelimit-spring-boot-starter")
    implementation("org.springframework.boot:STARTER_WEB")
    testImplementation("io.ratelimit:ratelimit-spring-boot-test")
    testImplementation("org.springframework.boot:spring-boot-starter-test")
    testRuntimeOnly("org.junit.platform:junit-platform-launcher")
}

tasks.test {
    useJUnitPlatform()
}
